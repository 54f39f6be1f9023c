//! Prints the cost of a start inside the process, without an SDK: `cargo run --release --example
//! start_cost -- IMAGE_DIR [FILE [ROUNDS]]`.
//!
//! Runs FILE (an ES module; `console.log('x')` by default) ROUNDS times inline and on a worker and
//! prints medians. Published figures come from `packages/benchmarks`. This example shows where the
//! time is spent.

#![expect(clippy::expect_used, reason = "a tool for developers")]

use coldframe_core::{
    Core, CoreOptions, Dispatch, EvaluationId, Mode, Outcome, ProcessOptions, RuntimeOptions, Sink, Streams, Timings,
};
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

struct TestSink(Mutex<Sender<Outcome>>);

impl Sink for TestSink {
    fn output(&self, _evaluation: Option<EvaluationId>, _fd: u8, _data: Vec<u8>) {}
    fn evaluated(&self, _evaluation: EvaluationId, outcome: Outcome) {
        self.exited(outcome);
    }
    fn ready(&self, _timings: Timings) {}
    fn exited(&self, outcome: Outcome) {
        let _ = self.0.lock().expect("lock").send(outcome);
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let image_dir = arguments.first().expect("the folder of the image").into();
    let code = arguments
        .get(1)
        .map_or_else(|| "console.log('x')".to_owned(), |file| std::fs::read_to_string(file).expect("the program"));
    let rounds = arguments.get(2).map_or(2_000, |rounds| rounds.parse().expect("a number"));
    let began = Instant::now();
    let options = CoreOptions {
        image_dir,
        python_dir: None,
        workers: 2,
        warm_slots: 16,
        spin: Duration::from_micros(50),
        max_runtimes: 10_000,
        edge: PathBuf::new(),
        requires_edge_walls: false,
    };
    let core = Core::open(&options).expect("a core");
    println!("open {:.0} µs", began.elapsed().as_secs_f64() * 1e6);
    let runtime = core.create_runtime(RuntimeOptions::default()).expect("a runtime");
    for (name, dispatch) in [("inline", Dispatch::Inline(Duration::from_secs(1))), ("worker", Dispatch::Worker)] {
        let (mut total, mut parts) = (Vec::new(), [const { Vec::new() }; 4]);
        let mut shown = false;
        for round in 0..rounds {
            let (sender, events) = channel();
            let sink = Arc::new(TestSink(Mutex::new(sender)));
            let options = ProcessOptions {
                mode: Mode::Exec,
                language: coldframe_core::Language::JavaScript,
                code: code.clone(),
                args: vec![],
                exec_argv: vec![],
                env: vec![],
                cwd: None,
                stdin: vec![],
                timeout: None,
                limits: vec![],
                streams: Streams::default(),
                live: false,
                user: None,
                terminal: None,
                keeps_session: false,
            };
            let began = Instant::now();
            runtime.start(options, sink, dispatch).expect("start");
            let outcome = events.recv().expect("an outcome");
            let took = began.elapsed().as_secs_f64() * 1e6;
            if round == 0 {
                println!("{name} first {took:.0} µs");
            }
            if !shown {
                println!("  exit {} {:?} {:?}", outcome.exit_code, String::from_utf8_lossy(&outcome.stdout), outcome.failure);
                print!("{}", String::from_utf8_lossy(&outcome.stderr));
                shown = true;
            }
            total.push(took);
            let timings = outcome.timings;
            for (part, ns) in parts.iter_mut().zip([
                timings.memory_map_ns,
                timings.instantiate_ns,
                timings.guest_start_ns,
                timings.guest_run_ns,
            ]) {
                part.push(ns as f64 / 1e3);
            }
        }
        let [map, instantiate, start, run] = parts.each_mut().map(|part| median(part));
        let total = median(&mut total);
        println!(
            "{name} median {total:.1} µs: map {map:.1} instantiate {instantiate:.1} guest start {start:.1} guest run {run:.1}"
        );
    }
}
