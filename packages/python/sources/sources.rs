//! Empty: cargo only downloads the packages that `Cargo.toml` pins.
