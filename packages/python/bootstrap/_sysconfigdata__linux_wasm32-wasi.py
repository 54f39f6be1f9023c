"""The variables of CPython's build that `sysconfig` reports: only those that programs read."""

# setuptools asks for the commands of a compiler. None is there, so a package whose extension
# modules are optional is built without them.
build_time_vars = {
    "WITH_DOC_STRINGS": 1,
    "ABIFLAGS": "",
    "AR": "ar",
    "ARFLAGS": "rcs",
    "CC": "cc",
    "CCSHARED": "",
    "CFLAGS": "",
    "CXX": "c++",
    "EXT_SUFFIX": ".cpython-313-wasm32-wasi.so",
    "HOST_GNU_TYPE": "wasm32-unknown-wasip1",
    "LDCXXSHARED": "c++ -shared",
    "LDSHARED": "cc -shared",
    "MACHDEP": "linux",
    "MULTIARCH": "wasm32-wasi",
    "Py_DEBUG": 0,
    "Py_ENABLE_SHARED": 0,
    "Py_GIL_DISABLED": 0,
    "SHLIB_SUFFIX": ".so",
    "SOABI": "cpython-313-wasm32-wasi",
    "TZPATH": "/usr/share/zoneinfo:/usr/lib/python3.13/zoneinfo/data",
    "VERSION": "3.13",
    "WITH_PYMALLOC": 1,
    "prefix": "/usr",
    "exec_prefix": "/usr",
}
