//! Compiles the library's one file, which `make amalgamation` writes beside this one and packages have.
fn main() {
    for file in ["weir.cc", "weir.h", "weir_model.h"] {
        println!("cargo:rerun-if-changed={file}");
    }
    // Documentation is built where there is no compiler.
    if std::env::var_os("DOCS_RS").is_some() {
        return;
    }
    if !std::path::Path::new("weir.cc").exists() {
        println!("cargo:error=weir.cc is missing: run `make amalgamation` at the top of the repository");
        std::process::exit(1);
    }
    // Optimized in every profile: a model is refused that takes too long.
    cc::Build::new()
        .cpp(true)
        .std("c++20")
        .flags(["-fno-exceptions", "-fno-rtti"])
        .opt_level(2)
        .file("weir.cc")
        .compile("weir");
}
