//! Link arguments of a Node-API addon. One of them keeps the library mapped when a worker thread of Node's that loaded it ends: our
//! own threads may still be in its code.

fn main() {
    napi_build::setup();
}
