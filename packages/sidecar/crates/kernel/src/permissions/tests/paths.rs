//! Measures the time of a permission check: `cargo test --release -p coldframe-kernel --lib --
//! --ignored prints_the_cost_of_a_check --nocapture`.

use super::*;
use std::hint::black_box;
use std::time::Instant;

#[test]
#[ignore = "prints figures"]
fn prints_the_cost_of_a_check() {
    const ROUNDS: u32 = 1_000_000;
    let measure = |name: &str, permissions: &Permissions| {
        let began = Instant::now();
        for _ in 0..ROUNDS {
            let about = About::Path(black_box(b"/workspace/node_modules/express/lib/router/index.js"));
            let _ = black_box(permissions.check(about, files::READ));
        }
        println!("{name}: {:.1} ns", began.elapsed().as_nanos() as f64 / f64::from(ROUNDS));
    };
    let permissions = Permissions::default();
    measure("no rules", &permissions);
    permissions.set(&policy(Scope::Fs, Verdict::Allow, &["-/secret"])).expect("good");
    measure("one rule", &permissions);
    let typical =
        ["+/workspace", "+/tmp", "-**/.env", "-/workspace/*.key", "-/workspace/.git | write rm", "+/usr | execute read"];
    permissions.set(&policy(Scope::Fs, Verdict::Deny, &typical)).expect("good");
    measure("six rules", &permissions);
    let many: Vec<String> = (0..1_000).map(|n| format!("-/workspace/node_modules/package{n}/private")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    permissions.set(&policy(Scope::Fs, Verdict::Allow, &many)).expect("good");
    measure("a thousand rules", &permissions);
}
