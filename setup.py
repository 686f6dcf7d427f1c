"""The package is described in pyproject.toml; this adds its one native module, which speeds up planning and may be absent.

Without a compiler, or without Cython, the build goes on and the pure Python twin of the module serves.
"""

from setuptools import Extension, setup


def extensions() -> list[Extension]:
    module = Extension("icesql.io._avro_columns", ["icesql/io/_avro_columns.pyx"], optional=True)
    try:
        from Cython.Build import cythonize
    except ImportError:
        return []
    try:
        made = list(cythonize([module], quiet=True))
    except Exception as error:
        print(f"icesql: building without the native module: {error}")
        return []
    for extension in made:
        extension.optional = True  # cythonize forgets it
    return made


setup(ext_modules=extensions())
