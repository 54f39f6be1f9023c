//! All orders of the ends of a flow. The program ends its direction, closes or resets. The outside
//! ends its direction or resets, before or after the program.

use super::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProgramEnd {
    Shutdown,
    Close,
    Reset,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OutsideEnd {
    End,
    Reset,
}

fn end_program(table: &Table, way: ProgramEnd) {
    match way {
        // A socket that was reset refuses the call.
        ProgramEnd::Shutdown => drop(table.shutdown()),
        ProgramEnd::Close => table.close(false),
        ProgramEnd::Reset => table.close(true),
    }
}

fn end_outside(table: &Table, way: OutsideEnd) {
    table.event(match way {
        OutsideEnd::End => OutsideEvent::End,
        OutsideEnd::Reset => failed(Errno::ECONNRESET),
    });
}

/// Returns the calls that the kernel makes after both sides have sent and read bytes.
fn expected(program: ProgramEnd, outside: OutsideEnd, program_first: bool) -> Vec<Asked> {
    use {OutsideEnd as O, ProgramEnd as P};
    let end = Asked::End(FLOW);
    match (program, outside, program_first) {
        // Both directions end: the kernel closes the flow.
        (P::Shutdown | P::Close, O::End, _) => vec![end, Asked::Close(FLOW, false)],
        // A closed socket needs no event of the outside.
        (P::Close, O::Reset, true) => vec![end, Asked::Close(FLOW, false)],
        (P::Shutdown, O::Reset, true) => vec![end],
        (P::Reset, _, true) | (P::Reset, O::End, false) => vec![Asked::Close(FLOW, true)],
        (_, O::Reset, false) => vec![],
    }
}

#[test]
fn every_order_of_ends_closes_the_flow_once_and_leaves_nothing() {
    for program in [ProgramEnd::Shutdown, ProgramEnd::Close, ProgramEnd::Reset] {
        for outside in [OutsideEnd::End, OutsideEnd::Reset] {
            for program_first in [true, false] {
                let context = format!("{program:?}, {outside:?}, program first: {program_first}");
                let table = Table::open();
                table.write(b"question").expect("room");
                table.event(OutsideEvent::Data(b"answer"));
                assert_eq!(table.read().as_deref(), Ok(&b"answer"[..]), "{context}");
                assert_eq!(table.outside.take(), [Asked::Write(FLOW, b"question".to_vec())], "{context}");
                if program_first {
                    end_program(&table, program);
                    end_outside(&table, outside);
                } else {
                    end_outside(&table, outside);
                    end_program(&table, program);
                }
                assert_eq!(table.outside.take(), expected(program, outside, program_first), "{context}");
                if program == ProgramEnd::Shutdown {
                    let first = if outside == OutsideEnd::Reset { Err(Errno::ECONNRESET) } else { Ok(vec![]) };
                    assert_eq!((table.read(), table.read()), (first, Ok(vec![])), "{context}");
                    table.close(false);
                }
                assert_eq!(table.outside.take(), [], "{context}");
                table.assert_empty();
                // Late events have no effect.
                end_outside(&table, outside);
                table.event(OutsideEvent::Closed(None));
                assert_eq!(table.outside.take(), [], "{context}");
            }
        }
    }
}

#[test]
fn unread_bytes_turn_a_close_into_a_reset() {
    for bytes in [1, BUFFER, 2 * BUFFER] {
        let table = Table::open();
        table.event(OutsideEvent::Data(&vec![1; bytes]));
        table.outside.take();
        table.close(false);
        assert_eq!(split(table.outside.take()), (vec![], vec![Asked::Close(FLOW, true)]), "{bytes}");
        table.assert_empty();
    }
}

#[test]
fn a_reset_of_the_program_needs_no_credit() {
    let table = Table::open();
    while table.write(&[1; 50_000]).is_ok() {}
    table.outside.take();
    table.close(true);
    assert_eq!(table.outside.take(), [Asked::Close(FLOW, true)]);
    table.assert_empty();
}

#[test]
fn bytes_for_a_closed_socket_reset_the_flow() {
    let table = Table::open();
    while table.write(&[1; 50_000]).is_ok() {}
    table.close(false);
    table.outside.take();
    table.event(OutsideEvent::Data(b"late"));
    assert_eq!(table.outside.take(), [Asked::Close(FLOW, true)]);
    table.assert_empty();
}

#[test]
fn an_end_of_both_directions_outside_delivers_all_bytes() {
    let table = Table::open();
    (0..4).for_each(|_| table.event(OutsideEvent::Data(&[1; BUFFER])));
    table.event(OutsideEvent::End);
    table.event(OutsideEvent::Closed(None));
    assert_eq!((table.drain(), table.read()), (WINDOW, Ok(vec![])));
    assert_eq!((table.write(b"a"), table.write(b"b")), (Ok(1), Err(Errno::EPIPE)), "as for a closed TCP connection");
    table.close(false);
    table.assert_empty();
}

#[test]
fn a_socket_that_is_closed_before_the_connection_is_open_closes_the_flow() {
    let table = Table::opening();
    table.close(false);
    assert_eq!(table.outside.take(), [Asked::Close(FLOW, true)]);
    table.event(OutsideEvent::Connected { local: local(), peer: peer() });
    table.event(OutsideEvent::Data(b"late"));
    assert_eq!(table.outside.take(), []);
    table.assert_empty();
}
