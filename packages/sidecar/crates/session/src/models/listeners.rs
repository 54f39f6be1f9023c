//! Models of the listeners of a program, which end with the program or are cancelled.

use super::*;

/// A program writes and ends while a request becomes a listener. The listener receives the output
/// after its attachment, and one reply.
#[test]
fn a_listener_of_a_program_that_ends_has_one_reply() {
    check(Some(2), || {
        let model = Model::new();
        model.begin(request(7));
        let listeners = model.listeners();
        let (context, streams, replies) = (Model::context(), Streams::default(), model.replies.clone());
        let sink = ProgramSink {
            request: request(7),
            context,
            live: true,
            streams,
            listeners: listeners.clone(),
            replies,
            turn: Mutex::default(),
        };
        let process = Process::new(Arc::new(sink));
        process.write(b'a');
        let program = {
            let process = process.clone();
            thread::spawn(move || {
                process.write(b'b');
                process.end();
            })
        };
        model.begin(request(8));
        model.replies.requests.listen(request(8), listeners.clone());
        process.observe(STDOUT, || listeners.add(request(8), STDOUT));
        program.join().expect("the program ends");
        let output = model.output_of(request(8));
        assert!(output.is_empty() || output == b"b", "{output:?}");
        assert!(model.output_of(request(7)).is_empty());
    });
}

/// A program ends while a listener is cancelled.
#[test]
fn a_cancelled_listener_has_one_reply_and_the_program_continues() {
    check(Some(3), || {
        let model = Model::new();
        model.begin(request(7));
        let listeners = model.listeners();
        let (context, streams, replies) = (Model::context(), Streams::default(), model.replies.clone());
        let sink = ProgramSink {
            request: request(7),
            context,
            live: true,
            streams,
            listeners: listeners.clone(),
            replies,
            turn: Mutex::default(),
        };
        let process = Process::new(Arc::new(sink));
        model.begin(request(8));
        model.replies.requests.listen(request(8), listeners.clone());
        process.observe(STDOUT, || listeners.add(request(8), STDOUT));
        let program = {
            let process = process.clone();
            thread::spawn(move || process.end())
        };
        model.replies.requests.cancel(request(8));
        program.join().expect("the program ends");
        assert_eq!((model.replies_to(request(7)), model.replies_to(request(8))), (1, 1));
        assert!(!process.is_stopped());
    });
}
