//! Links libweir.a of `make plugins`, which has no ONNX Runtime, and hands the shipped model on.
use std::{env, path::Path, process::exit};

fn main() {
    println!("cargo:rerun-if-env-changed=WEIR_PREFIX");
    let here = env::var("CARGO_MANIFEST_DIR").unwrap();
    let prefix = env::var("WEIR_PREFIX").unwrap_or(format!("{here}/../../build/plugins/prefix"));
    let (library, model) = (format!("{prefix}/lib/libweir.a"), format!("{prefix}/share/weir/weir.onnx"));
    for file in [&library, &model] {
        println!("cargo:rerun-if-changed={file}");
        if !Path::new(file).exists() {
            println!("cargo:error={file} is missing: run `make plugins` at the top, or set WEIR_PREFIX");
            exit(1);
        }
    }
    println!("cargo:rustc-env=WEIR_MODEL={model}");
    println!("cargo:rustc-env=WEIR_INCLUDE={prefix}/include");
    println!("cargo:rustc-link-search=native={prefix}/lib");
    println!("cargo:rustc-link-lib=static=weir");
    println!("cargo:rustc-link-lib=stdc++");
}
