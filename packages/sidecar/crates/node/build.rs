//! Sets the link arguments of a Node-API addon. One argument keeps the library mapped when the
//! worker thread of Node that has loaded the library ends. Our own threads may still run the
//! library's code.

fn main() {
    napi_build::setup();
}
