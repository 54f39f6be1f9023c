//! Checks the embedder's options and makes the errors of invalid options. Next: `options.rs`.

use coldframe_error::Errno;
use coldframe_error::Error;
use coldframe_kernel::Owner;
use coldframe_kernel::processes::DEFAULT_PATH;

pub(crate) fn failed(errno: Errno, call: &'static str, path: &str) -> Error {
    Error::File { errno: errno.name(), reason: errno.message().to_owned(), call, path: shorten(path) }
}

pub(crate) fn invalid(what: &str, expected: String, received: String) -> Error {
    Error::InvalidRequest { what: what.to_owned(), expected, received }
}

pub(crate) fn check_cwd(cwd: &str) -> Result<(), Error> {
    if cwd.starts_with('/') && !cwd.contains('\0') && cwd.len() < 4_096 {
        return Ok(());
    }
    Err(invalid("cwd", "an absolute guest path of less than 4,096 bytes".to_owned(), format!("{:?}", shorten(cwd))))
}

/// The largest number of variables in an environment. The default limit of an environment's bytes
/// is reached with far fewer variables.
pub(crate) const MAX_ENV: usize = 1 << 20;

pub(crate) fn check_env(env: &[(String, String)]) -> Result<(), Error> {
    let wrong = env.iter().find(|(key, value)| key.is_empty() || key.contains(['=', '\0']) || value.contains('\0'));
    if let Some((key, _)) = wrong {
        return Err(invalid(
            "env",
            "names without '=' and NUL that are not empty, values without NUL".to_owned(),
            format!("the entry {:?}", shorten(key)),
        ));
    }
    if env.len() > MAX_ENV {
        return Err(invalid("env", format!("at most {MAX_ENV} variables"), format!("{} variables", env.len())));
    }
    Ok(())
}

/// The environment that a login of the guest's user sets. `HOME` and `SHELL` equal the user's line
/// in `/etc/passwd`, and `PATH` equals the search path of the kernel for an environment without
/// `PATH`.
const LOGIN_ENV: [(&str, &str); 6] = [
    ("HOME", "/home/user"),
    ("LOGNAME", "user"),
    ("PATH", DEFAULT_PATH),
    ("SHELL", "/bin/sh"),
    ("TMPDIR", "/tmp"),
    ("USER", "user"),
];

/// Returns the environment of a new runtime: the variables of the app, and the variables of a login
/// that the app does not set.
pub(crate) fn login_env(given: Vec<(String, String)>) -> Vec<(String, String)> {
    let is_given = |key: &str| given.iter().any(|(name, _)| name == key);
    let missing = LOGIN_ENV.iter().filter(|(key, _)| !is_given(key));
    let mut env: Vec<_> = missing.map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    env.extend(given);
    env
}

/// The variables of a login of `root` that differ from [`LOGIN_ENV`].
const ROOT_ENV: [(&str, &str); 3] = [("HOME", "/root"), ("LOGNAME", "root"), ("USER", "root")];

/// Returns the variables that a program of `user` has instead of the runtime's.
pub(crate) fn user_env(user: Option<Owner>) -> Vec<(String, String)> {
    let variables = match user {
        Some(Owner { uid: 0, .. }) => &ROOT_ENV[..],
        _ => &[],
    };
    variables.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// Fails if no process and no file can have the owner.
pub(crate) fn check_owner(what: &str, owner: Owner) -> Result<(), Error> {
    if owner.uid != u32::MAX && owner.gid != u32::MAX {
        return Ok(());
    }
    Err(invalid(what, format!("numbers up to {}", u32::MAX - 1), u32::MAX.to_string()))
}

/// Adds the variables of `over` to `env`. A variable of `env` with an equal name is replaced.
pub(crate) fn lay_over(env: &mut Vec<(String, String)>, over: &[(String, String)]) {
    for (key, value) in over {
        match env.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => known.clone_from(value),
            None => env.push((key.clone(), value.clone())),
        }
    }
}

/// Returns the number of bytes that an environment needs in a program.
pub(crate) fn env_bytes(env: &[(String, String)]) -> u64 {
    env.iter().map(|(key, value)| (key.len() + value.len() + 2) as u64).sum()
}

pub(crate) fn check_size(what: &str, bytes: u64, most: u64) -> Result<(), Error> {
    if bytes > most { Err(invalid(what, format!("at most {most} bytes"), format!("{bytes} bytes"))) } else { Ok(()) }
}

pub(crate) fn shorten(text: &str) -> String {
    text.chars().take(100).collect()
}
