"""The notebook: ``%load_ext icesql``, then ``%%sql`` cells and ``%sql`` lines."""

from icesql.magic.extension import load_ipython_extension, unload_ipython_extension

__all__ = ["load_ipython_extension", "unload_ipython_extension"]
