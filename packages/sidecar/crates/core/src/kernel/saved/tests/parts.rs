//! One part after the other: what is in the value, and what becomes of it.

use super::*;

#[test]
fn bytes_in_a_pipe_come_out_in_every_copy() {
    let world = World::new(1);
    let (one, other) = world.guests[0].pair();
    world.guests[0].write(one, b"hello").expect("room");
    let saved = world.save();
    assert_eq!(world.guests[0].read(other).expect("there"), b"hello");
    for _ in 0..2 {
        let copy = World::revive(&saved);
        assert_eq!(copy.guests[0].read(other).expect("there"), b"hello");
        copy.guests[0].write(other, b"back").expect("room");
        assert_eq!(copy.guests[0].read(one).expect("there"), b"back");
    }
    assert_eq!(world.guests[0].read(one), Err(Errno::EAGAIN), "copies have nothing in common");
}

#[test]
fn who_waited_for_a_socket_hears_of_it_in_the_copy() {
    let world = World::new(1);
    let (one, other) = world.guests[0].pair();
    let operation = world.guests[0].ok(0x20d, &[other.into(), READ.into()]);
    let copy = world.copy();
    assert_eq!(copy.guests[0].events(), []);
    copy.guests[0].write(one, b"x").expect("room");
    let heard: Vec<_> = copy.guests[0].events().iter().map(|event| (i64::from(event.operation), event.result)).collect();
    assert_eq!(heard, [(operation, 1)]);
    assert_eq!(world.guests[0].events(), []);
}
