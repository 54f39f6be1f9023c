//! Link arguments of a Node-API addon. One argument keeps the library mapped when a worker thread
//! of Node that has loaded it ends. Our own threads may still run its code.

fn main() {
    napi_build::setup();
}
