//! Tests of snapshots of restored runtimes, and of rollbacks to any ancestor.

use super::*;

#[test]
fn a_runtime_rolls_back_to_an_ancestor_and_continues_on_another_branch() {
    let core = core();
    let source = runtime(&core);
    let mut runner = runner(&source);
    let say = |runner: &mut Runner, word: &str| {
        runner.eval(&format!("(globalThis.path ??= []).push('{word}'); console.log(path.join('/'))"))
    };
    let mut taken: HashMap<String, Arc<Snapshot>> = HashMap::new();
    let mut step = |runner: &mut Runner, word: &str| {
        let path = say(runner, word);
        taken.insert(path.clone(), take(&source));
        path
    };
    assert_eq!(step(&mut runner, "a"), "a");
    assert_eq!(step(&mut runner, "b"), "a/b");
    assert_eq!(step(&mut runner, "c"), "a/b/c");
    for (back, word) in [("a", "x"), ("a/b", "y"), ("a/x", "z"), ("a/b/c", "d"), ("a/b/y", "e")] {
        let snapshot = taken[back].clone();
        let (programs, _) = rollback(&source, &snapshot);
        runner.continue_with(&programs);
        let path = say(&mut runner, word);
        assert_eq!(path, format!("{back}/{word}"));
        let next = take(&source);
        assert_eq!(next.info().parent.as_ref(), Some(&snapshot.info().id));
        taken.insert(path, next);
    }
    drop(source);
    for (path, snapshot) in &taken {
        let (_runtime, mut runner) = copy(&core, snapshot).runner();
        assert_eq!(runner.eval("console.log(path.join('/'))"), *path, "the snapshots are independent");
    }
}

#[test]
fn a_long_chain_of_copies_keeps_its_state() {
    let core = core();
    let mut parent: Option<String> = None;
    let (mut current, mut runner) = {
        let source = runtime(&core);
        let runner = runner(&source);
        (source, runner)
    };
    runner.eval("globalThis.list = []");
    for generation in 0..50 {
        assert_eq!(
            runner.eval("list.push(Math.random()); console.log(list.length, new Set(list).size)"),
            format!("{0} {0}", generation + 1)
        );
        let snapshot = take(&current);
        assert_eq!(snapshot.info().parent, parent);
        parent = Some(snapshot.info().id.clone());
        if generation % 3 == 0 {
            let (programs, _) = rollback(&current, &snapshot);
            runner.continue_with(&programs);
        } else {
            (current, runner) = copy(&core, &snapshot).runner();
        }
    }
    assert_eq!(runner.eval("console.log(list.length)"), "50");
}
