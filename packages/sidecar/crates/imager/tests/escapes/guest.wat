;; A hostile guest. The guest executes a list of calls from a test (`script.rs`) with any integers.
;;
;; The source of the program is the list. A record has 161 bytes: the letter of an operation and ten
;; integers in hexadecimal. The guest copies the list to 2 MiB, because later events overwrite the
;; inbox. The log of results is at 3 MiB, eight bytes each. The index of the next record is at 4096,
;; the end of the log at 4104, the result of `cf_inbox` at 4112, the number of calls without an error
;; at 4128, and a flag for the copied list at 4136.
(module
  (import "coldframe" "write" (func $write (param i32 i32 i32) (result i32)))
  (import "coldframe" "read" (func $read (param i32 i32 i32) (result i32)))
  (import "coldframe" "wait_writable" (func $wait_writable (param i32) (result i32)))
  (import "coldframe" "wait_readable" (func $wait_readable (param i32) (result i32)))
  (import "coldframe" "sys" (func $sys (param i32 i64 i64 i64 i64 i64 i64 i64 i64) (result i64)))
  (import "coldframe" "sys_wait" (func $sys_wait (param i32 i64 i64 i64 i64 i64 i64 i64 i64) (result i64)))
  (import "coldframe" "poll" (func $poll (result i32)))
  (import "coldframe" "clock" (func $clock (param i32) (result i64)))
  (import "coldframe" "random" (func $random (param i32 i32)))
  (import "coldframe" "mark" (func $mark (param i32)))
  (import "coldframe" "fatal" (func $fatal (param i32 i32 i32)))
  (import "coldframe" "build_file" (func $build_file (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 64 32768)
  (func (export "_initialize"))
  (func (export "cf_boot") (result i32) (i32.const 0))
  (func (export "cf_freeze") (result i32) (i32.const 0))
  (func (export "cf_info") (result i32)
    (i32.store (i32.const 0) (i32.const 7))
    (i32.store (i32.const 4) (i32.const 1024))
    (i32.store (i32.const 8) (i32.const 65536))
    (i32.store (i32.const 12) (i32.const 1048576))
    (i32.const 0))
  (func (export "cf_inbox") (param i32) (result i32) (i32.load (i32.const 4112)))
  (func $digit (param $byte i32) (result i64)
    (i64.extend_i32_u (if (result i32) (i32.gt_u (local.get $byte) (i32.const 57))
      (then (i32.sub (local.get $byte) (i32.const 87)))
      (else (i32.sub (local.get $byte) (i32.const 48))))))
  ;; Returns the integer at `index` of the next record.
  (func $arg (param $index i32) (result i64)
    (local $at i32) (local $end i32) (local $value i64)
    (local.set $at (i32.add (i32.add (i32.const 0x200001) (i32.mul (i32.load (i32.const 4096)) (i32.const 161))) (i32.mul (local.get $index) (i32.const 16))))
    (local.set $end (i32.add (local.get $at) (i32.const 16)))
    (loop $more
      (local.set $value (i64.or (i64.shl (local.get $value) (i64.const 4)) (call $digit (i32.load8_u (local.get $at)))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $more (i32.lt_u (local.get $at) (local.get $end))))
    (local.get $value))
  (func $int (param $index i32) (result i32) (i32.wrap_i64 (call $arg (local.get $index))))
  (func $log (param $value i64)
    (local $at i32)
    (local.set $at (i32.load (i32.const 4104)))
    (if (i32.lt_u (local.get $at) (i32.const 0x60000)) (then
      (i64.store (i32.add (local.get $at) (i32.const 0x300000)) (local.get $value))
      (i32.store (i32.const 4104) (i32.add (local.get $at) (i32.const 8))))))
  (func $dump
    (local $at i32) (local $taken i32)
    (block $out (loop $more
      (br_if $out (i32.ge_u (local.get $at) (i32.load (i32.const 4104))))
      (local.set $taken (call $write (i32.const 1) (i32.add (local.get $at) (i32.const 0x300000)) (i32.sub (i32.load (i32.const 4104)) (local.get $at))))
      (br_if $out (i32.le_s (local.get $taken) (i32.const 0)))
      (local.set $at (i32.add (local.get $at) (local.get $taken)))
      (br $more))))
  ;; Makes as many calls as the last integer of the record, each with the next number. Logs the last
  ;; result.
  (func $calls (param $waits i32)
    (local $i i32) (local $answer i64)
    (loop $more
      (local.set $answer (if (result i64) (local.get $waits)
        (then (call $sys_wait (i32.add (call $int (i32.const 0)) (local.get $i)) (call $arg (i32.const 1)) (call $arg (i32.const 2)) (call $arg (i32.const 3)) (call $arg (i32.const 4)) (call $arg (i32.const 5)) (call $arg (i32.const 6)) (call $arg (i32.const 7)) (call $arg (i32.const 8))))
        (else (call $sys (i32.add (call $int (i32.const 0)) (local.get $i)) (call $arg (i32.const 1)) (call $arg (i32.const 2)) (call $arg (i32.const 3)) (call $arg (i32.const 4)) (call $arg (i32.const 5)) (call $arg (i32.const 6)) (call $arg (i32.const 7)) (call $arg (i32.const 8))))))
      (if (i64.ge_s (local.get $answer) (i64.const 0)) (then (i64.store (i32.const 4128) (i64.add (i64.load (i32.const 4128)) (i64.const 1)))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $more (i32.lt_u (local.get $i) (call $int (i32.const 9)))))
    (call $log (local.get $answer)))
  (func $deep (param i32) (result i32) (i32.add (call $deep (i32.add (local.get 0) (i32.const 1))) (i32.load (local.get 0))))
  (func $fill
    (local $at i32) (local $end i32)
    (local.set $at (call $int (i32.const 0)))
    (local.set $end (i32.add (local.get $at) (call $int (i32.const 2))))
    (block $out (loop $more
      (br_if $out (i32.ge_u (local.get $at) (local.get $end)))
      (i32.store8 (local.get $at) (call $int (i32.const 1)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $more))))
  (func $copy_script
    (local $at i32)
    (loop $more
      (i64.store (i32.add (local.get $at) (i32.const 0x200000)) (i64.load (i32.add (local.get $at) (i32.const 65624))))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br_if $more (i32.lt_u (local.get $at) (i32.const 0xf0000)))))
  (func (export "cf_turn") (param i32 i32) (result i32)
    (local $op i32)
    (if (i32.eqz (i32.load (i32.const 4136))) (then (call $copy_script) (i32.store (i32.const 4136) (i32.const 1))))
    (i64.store (i32.const 1032) (i64.const 0xbff0000000000000))
    (loop $next
      (local.set $op (i32.load8_u (i32.add (i32.const 0x200000) (i32.mul (i32.load (i32.const 4096)) (i32.const 161)))))
      (if (i32.eq (local.get $op) (i32.const 115)) (then (call $calls (i32.const 0))))                                    ;; s
      (if (i32.eq (local.get $op) (i32.const 119)) (then (call $calls (i32.const 1))))                                    ;; w
      (if (i32.eq (local.get $op) (i32.const 111)) (then (call $log (i64.extend_i32_s (call $write (call $int (i32.const 0)) (call $int (i32.const 1)) (call $int (i32.const 2))))))) ;; o
      (if (i32.eq (local.get $op) (i32.const 114)) (then (call $log (i64.extend_i32_s (call $read (call $int (i32.const 0)) (call $int (i32.const 1)) (call $int (i32.const 2))))))) ;; r
      (if (i32.eq (local.get $op) (i32.const 87)) (then (call $log (i64.extend_i32_s (call $wait_writable (call $int (i32.const 0))))))) ;; W
      (if (i32.eq (local.get $op) (i32.const 82)) (then (call $log (i64.extend_i32_s (call $wait_readable (call $int (i32.const 0))))))) ;; R
      (if (i32.eq (local.get $op) (i32.const 112)) (then (call $log (i64.extend_i32_s (call $poll)))))                    ;; p
      (if (i32.eq (local.get $op) (i32.const 99)) (then (call $log (call $clock (call $int (i32.const 0))))))             ;; c
      (if (i32.eq (local.get $op) (i32.const 101)) (then (call $random (call $int (i32.const 0)) (call $int (i32.const 1))))) ;; e
      (if (i32.eq (local.get $op) (i32.const 109)) (then (call $mark (call $int (i32.const 0)))))                         ;; m
      (if (i32.eq (local.get $op) (i32.const 102)) (then (call $fatal (call $int (i32.const 0)) (call $int (i32.const 1)) (call $int (i32.const 2))))) ;; f
      (if (i32.eq (local.get $op) (i32.const 98)) (then (call $log (i64.extend_i32_s (call $build_file (call $int (i32.const 0)) (call $int (i32.const 1)) (call $int (i32.const 2)) (call $int (i32.const 3))))))) ;; b
      (if (i32.eq (local.get $op) (i32.const 103)) (then (call $log (i64.extend_i32_s (memory.grow (call $int (i32.const 0))))))) ;; g
      (if (i32.eq (local.get $op) (i32.const 107)) (then (i32.store (call $int (i32.const 0)) (call $int (i32.const 1))))) ;; k
      (if (i32.eq (local.get $op) (i32.const 75)) (then (i64.store (call $int (i32.const 0)) (call $arg (i32.const 1))))) ;; K
      (if (i32.eq (local.get $op) (i32.const 108)) (then (call $log (i64.load (call $int (i32.const 0))))))              ;; l
      (if (i32.eq (local.get $op) (i32.const 118)) (then (call $fill)))                                                   ;; v
      (if (i32.eq (local.get $op) (i32.const 83)) (then (drop (call $deep (i32.const 0)))))                               ;; S
      (if (i32.eq (local.get $op) (i32.const 117)) (then (unreachable)))                                                  ;; u
      (if (i32.eq (local.get $op) (i32.const 100)) (then (call $dump)))                                                   ;; d
      (if (i32.eq (local.get $op) (i32.const 110)) (then (loop $spin (i32.store (i32.const 8192) (i32.const 1)) (br $spin)))) ;; n
      (if (i32.eq (local.get $op) (i32.const 106)) (then (i32.store (i32.const 4096) (call $int (i32.const 0))) (br $next))) ;; j
      (if (i32.eq (local.get $op) (i32.const 116)) (then                                                                  ;; t
        (i64.store (i32.const 1032) (call $arg (i32.const 0)))
        (i32.store (i32.const 4096) (i32.add (i32.load (i32.const 4096)) (i32.const 1)))
        (return (i32.const 0))))
      (if (i32.eq (local.get $op) (i32.const 84)) (then                                                                   ;; T: repeats the record in the next turn
        (i64.store (i32.const 1032) (call $arg (i32.const 0)))
        (return (i32.const 0))))
      (if (i32.eq (local.get $op) (i32.const 120)) (then                                                                  ;; x
        (i32.store (i32.const 1024) (call $int (i32.const 0)))
        (i32.store (i32.const 1028) (call $int (i32.const 1)))
        (i32.store (i32.const 4096) (i32.add (i32.load (i32.const 4096)) (i32.const 1)))
        (return (call $int (i32.const 2)))))
      (if (i32.eqz (local.get $op)) (then
        (call $dump)
        (i32.store (i32.const 1024) (i32.const 1))
        (i32.store (i32.const 1028) (i32.const 5))
        (return (i32.const 1))))
      (i32.store (i32.const 4096) (i32.add (i32.load (i32.const 4096)) (i32.const 1)))
      (br $next))
    (unreachable)))
