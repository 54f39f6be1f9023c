//! Prepares the start of a program. Next: `registry.rs`.

use crate::options::{Mode, ProcessOptions};
use crate::program::Launch;
use coldframe_error::Errno;
use coldframe_kernel::Process as KernelProcess;
use coldframe_kernel::processes::find;
use coldframe_kernel::text::Text;

/// Prepares the start of a program: opens its input pipe and finds the program of a command.
pub(super) fn prepare(process: &KernelProcess, options: &ProcessOptions, launch: &mut Launch) -> Result<(), Errno> {
    if let Some(size) = options.terminal {
        process.open_terminal(size)?;
        if !options.stdin.is_empty() {
            process.feed(&options.stdin, false)?;
        }
    } else if options.live {
        process.open_feed(&options.stdin)?;
    }
    if options.mode == Mode::Command {
        let (argv, env) = (std::mem::take(&mut launch.argv), std::mem::take(&mut launch.env));
        let command = find(process, &options.code, argv, env)?;
        let cwd = std::mem::take(&mut launch.cwd);
        *launch = Launch::of(command, cwd);
    }
    Ok(())
}

/// Returns the command line for lists of processes, cut off after 1,000 characters.
pub(super) fn title(argv: &[Text]) -> String {
    const LONGEST: usize = 1_000;
    let separated = argv.iter().enumerate().flat_map(|(at, text)| [if at == 0 { "" } else { " " }, text]);
    separated.flat_map(str::chars).take(LONGEST).collect()
}
