//! The log for developers: lines on stderr about requests, runtimes, programs and snapshots.
//!
//! Crates write lines with the macros of the `log` crate and one of [`TOPICS`] as the target.
//! Before [`install`] is called, a line costs one load of an atomic and formats nothing. A line
//! names kinds, ids, sizes and times. A line never contains the content of a guest or of an app.
//! This crate depends on no other crate of the workspace.

use std::io::Write;
use std::sync::OnceLock;
use std::time::Instant;

use log::{LevelFilter, Log, Metadata, Record};

/// The topics of the log: the targets that a line can have.
pub const TOPICS: [&str; 4] = ["request", "runtime", "program", "snapshot"];

/// The text that [`install`] accepts, for an error message.
pub const EXPECTED: &str = "all, or some of request, runtime, program, snapshot separated by commas";

/// Writes lines of the chosen topics, each with the seconds since the log was installed.
struct Stderr {
    topics: Vec<&'static str>,
    start: Instant,
}

impl Log for Stderr {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.topics.contains(&metadata.target())
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let line = format!("coldframe {:.6} {}: {}\n", self.start.elapsed().as_secs_f64(), record.target(), record.args());
        // A log that cannot be written must not cause a failure.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }

    fn flush(&self) {}
}

/// Parses a list of topics. The error is the unknown topic.
fn parse(text: &str) -> Result<Vec<&'static str>, String> {
    if text == "all" {
        return Ok(TOPICS.to_vec());
    }
    let topic = |name: &str| TOPICS.into_iter().find(|topic| *topic == name).ok_or_else(|| name.to_owned());
    text.split(',').map(topic).collect()
}

/// Turns the log on for the whole process. [`EXPECTED`] describes `topics`. The error is the
/// unknown topic. After the first call, further calls only check `topics`.
pub fn install(topics: &str) -> Result<(), String> {
    static LOGGER: OnceLock<Stderr> = OnceLock::new();
    let topics = parse(topics)?;
    let logger = LOGGER.get_or_init(|| Stderr { topics, start: Instant::now() });
    if log::set_logger(logger).is_ok() {
        log::set_max_level(LevelFilter::Debug);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{EXPECTED, TOPICS, parse};

    #[test]
    fn reads_topics_separated_by_commas() {
        assert_eq!(parse("request,snapshot"), Ok(vec!["request", "snapshot"]));
        assert_eq!(parse("all"), Ok(TOPICS.to_vec()));
    }

    #[test]
    fn refuses_an_unknown_topic() {
        assert_eq!(parse("request,x"), Err("x".to_owned()));
        assert!(EXPECTED.contains(&TOPICS.join(", ")));
    }
}
