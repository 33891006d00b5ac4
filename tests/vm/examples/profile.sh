#!/bin/sh
# Start-up profiles on a kernel that has all of it: a talk's example, that of the kernel's document, and things that only files have.
# What is saved, reset and applied again is the same.
. room
cd "$RINGSIDE_SCRATCH" || exit 1

# What is on, and what only could be.
ons() {
	for group in sched irq signal task; do
		cat $tracing/events/$group/*/enable
	done
}

# There and back: round FILE.
round() {
	want ringside apply -q "$1"
	ons >on
	want ringside save
	cp "$out" first
	want ringside apply -q "$1"
	want ringside save
	cmp "$out" first || fail "$1: the second time something else is set"
	want ringside reset -a -t -d -b 1408
	want ringside save -t
	[ "$(tr -d ' \n' <"$out")" = 'ftrace{}' ] || fail "$1: something is left"
	want ringside apply first
	want ringside save
	cmp "$out" first || fail "$1: what was saved sets something else: $(diff first "$out")"
	ons | cmp - on || fail "$1: others are on"
}

# As a talk has it, with a tracer that is not for all functions: that takes minutes here.
cat >talk <<'E'
ftrace {
    tracer = function_graph;
    ftrace.filters = "vfs_ge*";
    options = event-fork, sym-addr, stacktrace;
    buffer_size = 1M;
    alloc_snapshot;
    trace_clock = global;
    events = "task:task_newtask", "initcall:*";
    event.sched.sched_process_exec {
        filter = "pid < 128";
    }
    instance.bar {
        event.kprobes {
            myevent {
                probes = "vfs_read $arg2 $arg3";
            }
            myevent2 {
                probes = "vfs_write $arg2 +0($arg2):ustring $arg3";
            }
            myevent3 {
                probes = "vfs_fsync%return $retval";
            }
            enable
        }
    }
    instance.foo {
        tracer = function;
        ftrace.filters = "ip_rcv*", "ping_rcv:traceoff:3";
        tracing_on = false;
    };
}
kernel {
    ftrace_dump_on_oops = "orig_cpu"
    traceoff_on_warning
}
E
round talk
for line in 'tracer = function_graph' 'buffer_size = 10..K' 'alloc_snapshot' 'events = "initcall:\*", "task:task_newtask"' \
	'event\.sched\.sched_process_exec\.filter = "pid < 128"' 'r[0-9]*:kprobes/myevent3 vfs_fsync arg1=\$retval' \
	'events = "kprobes:\*"' 'tracing_on = 0' '"ping_rcv:traceoff:3"' 'ftrace_dump_on_oops = 2' 'traceoff_on_warning = 1'; do
	has "$line"
done
dd if=/dev/zero of=file bs=1 count=3 2>"$err"
want ringside stop -B bar
want ringside show -B bar
has ' dd-[0-9]+ .*: myevent2: \(vfs_write'
echo 0 >/proc/sys/kernel/ftrace_dump_on_oops
echo 0 >/proc/sys/kernel/traceoff_on_warning
want ringside reset -a -t -d -b 1408

# As the kernel's document has it, with events that still come.
cat >document <<'E'
ftrace.event {
	task.task_newtask {
		filter = "pid < 32768"
		enable
	}
	kprobes.vfs_read {
		probes = "vfs_read $arg1 $arg2"
		filter = "common_pid < 32768"
		enable
	}
	synthetic.wakeup_latency {
		fields = "pid_t pid", "u64 lat"
		hist {
			keys = pid, lat.log2
			values = lat
			sort = lat
		}
	}
	sched.sched_waking.hist {
		keys = pid
		var.ts0 = common_timestamp.usecs
	}
	sched.sched_switch.hist {
		keys = next_pid
		var.lat = common_timestamp.usecs - $ts0
		onmatch {
			event = sched.sched_waking
			trace = wakeup_latency, next_pid, $lat
		}
	}
}
E
round document
sleep 0.2
want cat $tracing/events/synthetic/wakeup_latency/hist
has '^\{ pid: +[0-9]+, lat: ~ 2\^'

# More: several histograms, all their keys; what files have and the kernel's keys have not; other kinds of probes; counts and pauses.
want ringside reset -a -t -d -b 1408
cat >more <<'E'
ftrace {
	dynamic_events = "e:opens/open syscalls/sys_enter_openat file=+0($filename):ustring",
		"p:libc/m /lib64/libc.so.6:0x1234 size=%di:u64", "f:fprobes/sync ksys_sync", "r8:rets/w vfs_write $retval"
	events = "opens:*", "sched:sched_wak*"
	buffer_percent = 20
	buffer_size = 2M
	buffer_subbuf_size_kb = 8
	tracing_thresh = 100
	max_graph_depth = 3
	set_graph_function = vfs_read, vfs_write, loop_set_hw_queue_depth
	options = func-no-repeats
	ftrace.filters = "vfs_fsync:enable_event:irq:softirq_entry", "vfs_fsync:enable_event:irq:softirq_exit:5", "loop_set_hw_queue_depth:traceoff"
	set_event_pid = 1, 2
	cpumask = 1
	event.synthetic.worst.fields = "u64 lat", "char comm[16]"
	event.sched.sched_switch {
		actions = "traceoff:3 if prev_pid == 99999", "enable_event:irq:irq_handler_entry:1", "stacktrace:2 if next_pid == 99998"
		hist {
			1 {
				keys = prev_pid, prev_comm
				values = hitcount, prev_prio
				sort = prev_prio.descending, hitcount
				size = 4096
				name = mine
				filter = 'prev_comm ~ "[a]*" && prev_prio < 120'
			}
			3 { keys = prev_pid; filter = "prev_prio < 120" }
			4 { keys = prev_pid; filter = "prev_prio < 120 && prev_pid > 1" }
			5 { keys = prev_pid }
			2 { keys = next_pid; var.wait = common_timestamp.usecs-$woken
				onmax { var = wait; save = next_comm, prev_pid }
				onmatch { event = sched.sched_wakeup; trace = worst, $wait, next_comm }
				pause }
		}
	}
	event.sched.sched_wakeup.hist { keys = pid; var.woken = common_timestamp.usecs }
	event.signal.signal_generate.hist { keys = sig; values = hitcount; var.s = sig; onchange { var = $s; snapshot } }
	event.irq.filter = "common_pid > 1"
}
kernel.trace_instance = "early^traceoff,sched:sched_switch,timer"
kernel.kprobe_event = "p:begin,vfs_open,$arg1"
E
round more
has 'r8:rets/w'
has '^	instance\.early \{'
has 'hist\.1 \{'
has 'name = mine'
has '^		pause$'
has 'onmax\.save = next_comm, prev_pid'
has 'stacktrace:2 if next_pid == 99998'
has 'hist\.5 \{'
has 'func-no-repeats'
has '"vfs_fsync:enable_event:irq:softirq_exit:5"'
has '"loop_set_hw_queue_depth:traceoff"'

# What is refused at the end takes back all that came before it.
want ringside save
cp "$out" before
cat >bad <<'E'
ftrace {
	event.kprobes.again.probes = "vfs_read $arg1"
	event.kprobes.again.enable
	event.synthetic.twice.fields = "u64 a"
	event.task.task_newtask.hist { keys = pid; var.born = common_timestamp }
	event.sched.sched_process_exec.hist { keys = pid; var.age = common_timestamp-$born; onmatch { event = task.task_newtask; trace = twice, $age } }
	event.sched.sched_process_exit.filter = "nosuch == 1"
	buffer_size = 2M
	ftrace.filters = "vfs_fallocate:enable_event:irq:softirq_raise"
	instance.gone { events = "kprobes:again"; event.kprobes.again.hist.keys = arg1 }
}
E
ringside apply bad >"$out" 2>"$err" && fail "a filter on a field that is not there"
grep -q '^ringside: bad:7:43: ftrace.event.sched.sched_process_exit.filter: Field not found' "$err" || fail "not the right words"
want ringside save
cmp "$out" before || fail "something stayed: $(diff before "$out")"

# So is the clock, which a histogram chose. What an instance cannot have is told, and so is a setting that does not take.
want ringside reset -a -t -d -b 1408
printf 'ftrace.event.sched { sched_waking.hist { keys = pid; var.ts0 = common_timestamp }; sched_switch.hist.keys = nosuch }\n' >bad
ringside apply bad >"$out" 2>"$err" && fail "a histogram of a field that is not there"
want cat $tracing/trace_clock
has '\[local\]'
printf 'ftrace.instance.few.tracer = blk\nkernel.tp_printk\n' >few
want ringside apply few
grep -q "no tracer 'blk' in an instance: left out" "$err" && grep -q 'tracepoint_printk stays as it is: left out' "$err" || fail "not told"

# What would be written is what is.
want ringside reset -a -t -d -b 1408
want ringside apply -n more
cp "$out" lines
want sh -e lines
want ringside save
cmp "$out" before || fail "the lines of -n do something else: $(diff before "$out")"
want ringside reset -a -t -d -b 1408
echo 50 >$tracing/buffer_percent
left
