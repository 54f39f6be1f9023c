//! The messages of the golden frames about resident runners. `mod.rs` has the macros.

use coldframe_protocol::messages::*;
use coldframe_protocol::{Frame, encode, reader};

use super::samples::*;
use super::{Case, runtime};

pub fn add(all: &mut Vec<Case>) {
    sdk!(
        all,
        "runner-create",
        RunnerCreate,
        5,
        RunnerCreate,
        RunnerCreate { runtime: runtime(1), env: None, cwd: None, limits: None, user: None, language: None }
    );
    sdk!(all, "runner-create-everything", RunnerCreate, 5, RunnerCreate, {
        RunnerCreate {
            runtime: runtime(1),
            env: Some(Pairs(vec![("MODE", "resident")])),
            cwd: Some("/"),
            limits: Some(Numbers(vec![("cpuMs", 50)])),
            user: Some(Owner { uid: 0, gid: 0 }),
            language: Some(RunnerLanguage::Bash),
        }
    });
    sdk!(all, "runner-create-python", RunnerCreate, 5, RunnerCreate, {
        let language = Some(RunnerLanguage::Python);
        RunnerCreate { runtime: runtime(1), env: None, cwd: None, limits: None, user: None, language }
    });
    sdk!(all, "runner-eval", RunnerEval, 6, RunnerEval, RunnerEval::new(runner(1), "1 + 1"));
    sdk!(all, "runner-eval-everything", RunnerEval, 6, RunnerEval, {
        let stream = Some(Stream { stdout: None, stderr: Some(true) });
        RunnerEval {
            runner: runner(u32::MAX),
            code: "await 0 // ☃",
            returns: Some(true),
            env: Some(Pairs(vec![("A", "1")])),
            cwd: Some("/tmp"),
            timeout_ms: Some(1),
            stream,
            until: Some(Until::Value),
            cell: Some(CellLanguage::Typescript),
        }
    });
    sdk!(all, "runner-dispose", RunnerDispose, 7, RunnerOnly, RunnerOnly { runner: runner(200) });
    sdk!(all, "runner-interrupt", RunnerInterrupt, 8, RunnerOnly, RunnerOnly { runner: runner(200) });
}
