//! `coldframe-imager --wasm guest.wasm --inputs DIR... --out DIR --name NAME`: the command line of
//! this crate's library. `--fingerprint` prints the text by which `pnpm build` compares two
//! builders.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use coldframe_imager::{Failure, GuestKind, build, fingerprint};

const USAGE: &str = "usage: coldframe-imager --wasm FILE --inputs DIR... --out DIR --name NAME [--python]
       coldframe-imager --fingerprint

  --wasm FILE    the guest's module
  --inputs DIR   a folder that the guest reads during its initialisation; repeatable
  --out DIR      the folder that receives NAME.image and the precompiled module
  --name NAME    the name of the image
  --python       the guest is Python, which may import WASI preview 1
  --fingerprint  print a text that changes if equal inputs would give another image
";

fn main() -> ExitCode {
    let arguments = match Arguments::parse() {
        Ok(Command::Build(arguments)) => arguments,
        Ok(Command::Fingerprint) => return print(fingerprint()),
        Ok(Command::Help) => return print(Ok(USAGE.to_owned())),
        Err(problem) => {
            eprintln!("coldframe-imager: {problem}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    print(arguments.build())
}

fn print(text: Result<String, Failure>) -> ExitCode {
    match text {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("coldframe-imager: {failure}");
            ExitCode::FAILURE
        }
    }
}

enum Command {
    Build(Arguments),
    Fingerprint,
    Help,
}

struct Arguments {
    wasm: PathBuf,
    inputs: Vec<PathBuf>,
    out: PathBuf,
    name: String,
    kind: GuestKind,
}

impl Arguments {
    /// Parses the command line. The error is a sentence that names the wrong or missing option.
    fn parse() -> Result<Command, String> {
        use lexopt::Arg::Long;
        let [mut wasm, mut out, mut name]: [Option<OsString>; 3] = [None, None, None];
        let mut kind = GuestKind::Node;
        let mut inputs = Vec::new();
        let mut parser = lexopt::Parser::from_env();
        let wrong = |error: lexopt::Error| error.to_string();
        while let Some(argument) = parser.next().map_err(wrong)? {
            let target = match argument {
                Long("help") => return Ok(Command::Help),
                Long("fingerprint") => return Ok(Command::Fingerprint),
                Long("wasm") => &mut wasm,
                Long("inputs") => {
                    inputs.push(PathBuf::from(parser.value().map_err(wrong)?));
                    continue;
                }
                Long("out") => &mut out,
                Long("name") => &mut name,
                Long("python") => {
                    kind = GuestKind::Python;
                    continue;
                }
                other => return Err(wrong(other.unexpected())),
            };
            *target = Some(parser.value().map_err(wrong)?);
        }
        let required = |value: Option<OsString>, name: &str| value.map(PathBuf::from).ok_or_else(|| format!("{name} is missing"));
        let name = required(name, "--name")?.into_os_string().into_string().map_err(|_| "--name is not text".to_owned())?;
        Ok(Command::Build(Self { wasm: required(wasm, "--wasm")?, inputs, out: required(out, "--out")?, name, kind }))
    }

    fn build(&self) -> Result<String, Failure> {
        let wasm = std::fs::read(&self.wasm)
            .map_err(|error| Failure::File { path: self.wasm.display().to_string(), reason: error.to_string() })?;
        let built = build(&wasm, &self.inputs, &self.out, &self.name, self.kind)?;
        let mib = |bytes: usize| bytes as f64 / f64::from(1 << 20);
        Ok(format!(
            "{}.image {:.1} MiB ({:.1} MiB not zero), {} {:.1} MiB",
            self.name,
            mib(built.mapped),
            mib(built.used),
            built.module_file,
            mib(built.code)
        ))
    }
}
