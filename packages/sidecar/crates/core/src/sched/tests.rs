//! Tests of the alarms with the real clock.

use super::Timers;
use coldframe_sys::monotonic_ns;
use std::sync::mpsc;

#[test]
fn alarms_go_off_in_order_of_time_unless_cancelled() {
    let timers = Timers::default();
    let (send, receive) = mpsc::channel();
    let now = monotonic_ns();
    let action = |text: &'static str| {
        let send = send.clone();
        move || {
            let _ = send.send(text);
        }
    };
    timers.set(now + 20_000_000, action("third"));
    let second = timers.set(now + 10_000_000, action("cancelled"));
    timers.set(now, action("first"));
    timers.cancel(second);
    drop(send);
    let received: Vec<_> = receive.iter().take(2).collect();
    assert_eq!(received, ["first", "third"]);
}
