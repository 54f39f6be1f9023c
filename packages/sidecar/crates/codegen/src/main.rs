//! Writes the files that repeat declarations of this workspace in another language.
//!
//! `pnpm generate` runs this program. With `--check`, the program writes no file and fails if a
//! file is stale. A test also checks the files. Each module makes one group of files: [`protocol`]
//! the SDK's message types, [`guest_abi`] the guest's constants.

mod guest_abi;
mod output;
mod protocol;

use std::path::PathBuf;
use std::process::ExitCode;

use output::GeneratedFile;

const HELP: &str = "\
Writes generated files into the checkout.

Usage: coldframe-codegen [--check]

  --check   write nothing; fail when a file is stale";

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(reason) => {
            eprintln!("coldframe-codegen: {reason}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode, String> {
    let mut check = false;
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next().map_err(|error| error.to_string())? {
        match argument {
            lexopt::Arg::Long("check") => check = true,
            lexopt::Arg::Long("help") => {
                println!("{HELP}");
                return Ok(ExitCode::SUCCESS);
            }
            other => return Err(format!("{} (see --help)", other.unexpected())),
        }
    }
    let files = generate()?;
    if check {
        let stale = output::stale(&output::checkout(), &files)?;
        for path in &stale {
            eprintln!("{path} is stale: run `pnpm generate`");
        }
        return Ok(if stale.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    for path in output::write(&output::checkout(), &files)? {
        println!("wrote {path}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns all generated files.
fn generate() -> Result<Vec<GeneratedFile>, String> {
    let mut files = protocol::files(&workspace().join("crates"))?;
    files.extend(guest_abi::files());
    Ok(files)
}

/// Returns the folder of the Cargo workspace.
fn workspace() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[cfg(test)]
mod tests {
    #[test]
    fn generated_files_match_their_declarations() -> Result<(), String> {
        let stale = super::output::stale(&super::output::checkout(), &super::generate()?)?;
        assert!(stale.is_empty(), "{} stale: run `pnpm generate`", stale.join(", "));
        Ok(())
    }
}
