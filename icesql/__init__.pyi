from icesql.catalog.commit_files import commit_files as commit_files
from icesql.magic import load_ipython_extension as load_ipython_extension
from icesql.magic import unload_ipython_extension as unload_ipython_extension
from icesql.session import Session as Session
from icesql.session import connect as connect
from icesql.session.dataframe_api.enable import disable as disable
from icesql.session.dataframe_api.enable import enable as enable
from icesql.session.light import connect_catalog as connect_catalog

__version__: str
