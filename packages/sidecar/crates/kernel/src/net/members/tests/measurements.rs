//! The costs of a connection between two socket tables, without programs and without a VM.

use super::*;
use std::time::Instant;

/// Prints the round trip of one byte, on one thread, and the throughput of one stream, with the
/// writer and the reader on two threads.
#[test]
#[ignore = "a measurement"]
fn the_cost_of_a_connection_between_two_tables() {
    let (web, client, db, server) = connected(&network(None));
    let mut byte = [0];
    let mut times: Vec<u64> = (0..200_000)
        .map(|_| {
            let begun = Instant::now();
            web.write(client, b"x").expect("room");
            db.kernel.sockets.read(server, &mut byte).expect("a byte");
            db.write(server, b"y").expect("room");
            web.kernel.sockets.read(client, &mut byte).expect("a byte");
            begun.elapsed().as_nanos() as u64
        })
        .collect();
    times.sort_unstable();
    println!("round trip: p50 {} ns, p99 {} ns", times[times.len() / 2], times[times.len() * 99 / 100]);

    const TOTAL: usize = 4 << 30;
    let begun = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let piece = vec![1; 64 << 10];
            let mut sent = 0;
            while sent < TOTAL {
                match web.write(client, &piece[..piece.len().min(TOTAL - sent)]) {
                    Ok(count) => sent += count,
                    Err(_) => std::hint::spin_loop(),
                }
            }
        });
        let mut buffer = vec![0; 64 << 10];
        let mut received = 0;
        while received < TOTAL {
            match db.kernel.sockets.read(server, &mut buffer) {
                Ok(count) => received += count,
                Err(_) => std::hint::spin_loop(),
            }
        }
    });
    let gbits = TOTAL as f64 * 8.0 / begun.elapsed().as_secs_f64() / 1e9;
    println!("one stream, two threads: {gbits:.1} Gbit/s");

    let begun = Instant::now();
    let (piece, mut buffer) = (vec![1; 64 << 10], vec![0; 64 << 10]);
    let mut received = 0;
    while received < TOTAL {
        let _ = web.write(client, &piece);
        while let Ok(count) = db.kernel.sockets.read(server, &mut buffer) {
            received += count;
        }
    }
    let gbits = received as f64 * 8.0 / begun.elapsed().as_secs_f64() / 1e9;
    println!("one stream, one thread: {gbits:.1} Gbit/s");
}
