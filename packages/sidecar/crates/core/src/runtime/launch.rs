//! Prepares the start of a program. Next: `registry.rs`.

use super::Inner;
use crate::checks::{check_cwd, check_env, check_owner, env_bytes, failed, lay_over, user_env};
use crate::options::{Language, Mode, ProcessOptions};
use crate::program::Launch;
use coldframe_error::{Errno, Error};
use coldframe_kernel::Process as KernelProcess;
use coldframe_kernel::processes::{Command, ProgramKind, find};
use coldframe_kernel::text::{Text, variables};

impl Inner {
    /// Checks the options of a new program, and makes its command line and its environment.
    pub(super) fn launch(&self, options: &ProcessOptions) -> Result<Launch, Error> {
        if let Some(cwd) = &options.cwd {
            check_cwd(cwd)?;
        }
        check_env(&options.env)?;
        options.user.map_or(Ok(()), |user| check_owner("user", user))?;
        let limits = self.limits();
        let arguments = options.args.iter().chain(&options.exec_argv);
        let argument_bytes: u64 = arguments.map(|argument| argument.len() as u64 + 1).sum();
        let too_long = |bytes, most| if bytes > most { Err(failed(Errno::E2BIG, "spawn", &options.code)) } else { Ok(()) };
        too_long(argument_bytes, limits.argv_bytes)?;
        let env = if options.env.is_empty() && options.user.is_none() {
            variables(&self.env)
        } else {
            let mut env = self.env.clone();
            lay_over(&mut env, &user_env(options.user));
            lay_over(&mut env, &options.env);
            too_long(env_bytes(&env), limits.env_bytes)?;
            variables(&env)
        };
        let is_python = options.language == Language::Python;
        let (kind, name) = if is_python { (ProgramKind::Python, "python3") } else { (ProgramKind::Node, "node") };
        let is_shell = options.mode == Mode::Resident && !options.code.is_empty();
        let mut argv = Vec::with_capacity(2 + options.args.len());
        argv.push(Text::from(if is_shell || options.mode == Mode::Command { &options.code } else { name }));
        if options.mode == Mode::File {
            argv.push(Text::from(&*options.code));
        }
        argv.extend(options.args.iter().map(|argument| Text::from(&**argument)));
        let cwd = options.cwd.clone().unwrap_or_else(|| self.cwd.clone());
        if is_shell {
            let command = Command { kind: ProgramKind::Shell(options.code.clone()), argv, env, raises: false };
            return Ok(Launch::of(command, cwd));
        }
        Ok(Launch { kind, code: options.code.clone(), argv, exec_argv: options.exec_argv.clone(), env, cwd })
    }
}

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
