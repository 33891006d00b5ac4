# Rows of NAME NS into the table with its targets, or into JSON lines.
function row(name, value, unit) {
	if (json)
		printf "{\"name\": \"%s\", \"%s\": %.2f}\n", name, unit, value
	else
		printf "%-28s %12.2f %s\n", name, value, unit
}

function target(what, value, relation, limit) {
	ok = relation == "<=" ? value <= limit : value >= limit
	if (!json)
		printf "%-52s %8.2f  (%s %s)  %s\n", what, value, relation, limit, ok ? "met" : "MISSED"
}

# A ratio that has no target: how it came out is all there is to say.
function ratio(what, value) {
	if (!json)
		printf "%-52s %8.2f\n", what, value
}

# What others say of theirs, on machines of their own.
function published(what, value) {
	if (!json)
		printf "%-52s %s\n", what, value
}

function unit(name) {
	if (name ~ /_(kib|bytes|instructions)$/)
		return name ~ /_kib$/ ? "KiB" : name ~ /_bytes$/ ? "bytes" : "instructions"
	return name ~ /_events_|_written$|_lost$/ ? "events" : "ns"
}

{ ns[$1] = $2; order[NR] = $1 }

END {
	for (i = 1; i <= NR; i++) {
		name = order[i]
		if (name ~ /^loop/ || name ~ /^disabled_loop/)
			continue
		row(name, ns[name], unit(name))
	}
	if ("loop" in ns)
		row("disabled", ns["disabled_loop"] - ns["loop"], "ns")
	if (!json)
		print ""
	if ("rdtsc" in ns) {
		target("int + string, in counter reads", ns["event_int_str"] / ns["rdtsc"], "<=", 1.8)
		target("disabled, ns", ns["disabled_loop"] - ns["loop"], "<=", 0.5)
		target("events of two threads over those of one", ns["event_int_str"] / ns["event_int_str_2t"], ">=", 1.8)
	}
	if ("lttng_int_str" in ns) {
		target("LTTng-UST int over ours", ns["lttng_int"] / ns["event_int"], ">=", 6)
		target("LTTng-UST int + string over ours", ns["lttng_int_str"] / ns["event_int_str"], ">=", 6)
	}
	if ("attach" in ns) {
		target("attaching a process, us", ns["attach"] / 1000, "<=", 150)
		target("memory of an attached process, KiB", ns["memory_kib"], "<=", 1024)
	}
	if ("call_function" in ns) {
		target("a call under function, ns", ns["call_function"] - ns["call_untraced"], "<=", 25)
		target("a call under function_graph, ns", ns["call_function_graph"] - ns["call_untraced"], "<=", 60)
		target("a call attached and not traced, of one untraced, %", 100 * ns["call_nop"] / ns["call_untraced"], "<=", 101)
	}
	if ("call_uftrace_pg" in ns) {
		target("uftrace (-pg) over function", ns["call_uftrace_pg"] / ns["call_function"], ">=", 4)
		target("uftrace (-pg) over function_graph", ns["call_uftrace_pg"] / ns["call_function_graph"], ">=", 2.2)
		ratio("uftrace (-finstrument-functions) over function_graph", ns["call_uftrace_cyg"] / ns["call_function_graph"])
		ratio("uftrace (patchable) over function_graph", ns["call_uftrace_patchable"] / ns["call_function_graph"])
	}
	if ("syscall_patched" in ns) {
		patched = ns["syscall_patched"] - ns["syscall_none"]
		target("both events of a patched system call, ns", patched, "<=", 60)
		target("both events of one by a signal, ns", ns["syscall_signal"] - ns["syscall_none"], "<=", 1200)
	}
	if ("syscall_kernel" in ns)
		ratio("the kernel's tracepoints over a patched call's", (ns["syscall_kernel"] - ns["syscall_none"]) / patched)
	if ("syscall_strace" in ns)
		ratio("strace over a patched call's", (ns["syscall_strace"] - ns["syscall_none"]) / patched)
	if ("probe_ordinary" in ns) {
		ours = ns["probe_ordinary"] - ns["probe_ordinary_none"]
		ours_nop5 = ns["probe_nop5"] - ns["probe_nop5_none"]
		target("a probe with one argument, ns", ours, "<=", 40)
	}
	if ("memory_traced" in ns)
		target("kmalloc and kfree of malloc and free, ns a pair", ns["memory_traced"] - ns["memory_none"], "<=", 150)
	if ("probe_ordinary_kernel" in ns) {
		kernels = ns["probe_ordinary_kernel"] - ns["probe_ordinary_none"]
		kernels_nop5 = ns["probe_nop5_kernel"] - ns["probe_nop5_none"]
		target("the kernel's uprobe over ours, an ordinary instruction", kernels / ours, ">=", 15)
		target("the kernel's uprobe over ours, a nop of five bytes", kernels_nop5 / ours_nop5, ">=", 8)
	}
	if ("enable_200" in ns)
		target("`enable` in force in 200 programs, ms", ns["enable_200"] / 1e6, "<=", 5)
	if ("ls_5000_events" in ns)
		target("ls -R over 5,000 events through a mount, s", ns["ls_5000_events"] / 1e9, "<=", 1)
	if ("report_1" in ns) {
		target("trace-cmd report over ours with one thread", ns["report_trace_cmd"] / ns["report_1"], ">=", 15)
		target("trace-cmd report over ours with two threads", ns["report_trace_cmd"] / ns["report_2"], ">=", 25)
		target("memory of trace-cmd report over ours", ns["report_trace_cmd_kib"] / ns["report_2_kib"], ">=", 4)
		target("memory for 240 times the events, over", ns["report_huge_kib"] / ns["report_small_kib"], "<=", 1.1)
		target("--from near the end of 10 GB, ms", ns["report_from"] / 1e6, "<=", 100)
	}
	if ("record_10m" in ns) {
		target("recorder at 10 million events a second, ns an event", ns["record_10m"], "<=", 5)
		target("events lost at 10 million a second", ns["record_10m_lost"], "<=", 0)
		ratio("recorder at 1 million events a second, ns an event", ns["record_1m"])
	}
	if ("record_trace_cmd_1m" in ns)
		ratio("trace-cmd record over ours, 1 million a second", ns["record_trace_cmd_1m"] / ns["record_1m"])
	if ("record_kernel" in ns && "record_kernel_trace_cmd" in ns) {
		target("trace-cmd over ours, CPU for an event of the kernel", ns["record_kernel_trace_cmd"] / ns["record_kernel"], ">=", 1)
		target("events lost in all storms, ours less trace-cmd's", ns["record_kernel_lost"] - ns["record_kernel_trace_cmd_lost"], "<=", 0)
	}
	if ("event_top" in ns) {
		ratio("event in an instance, over one in the top buffer", ns["event_instance"] / ns["event_top"])
		ratio("event in two buffers, over one in the top buffer", ns["event_two_buffers"] / ns["event_top"])
		ratio("event under set_event_pid, over one without", ns["event_chosen_pid"] / ns["event_instance"])
	}
	if ("hook_bare" in ns) {
		target("an event that a filter rejects by a number, ns", ns["hook_reject_number"] - ns["loop_hooks"], "<=", 3)
		target("an event that a filter rejects by a string, ns", ns["hook_reject_string"] - ns["loop_hooks"], "<=", 6)
		target("a histogram by an int, over the bare event, ns", ns["hook_hist"] - ns["hook_bare"], "<=", 25)
		target("the same when it is recorded, too, ns", ns["hook_hist_recorded"] - ns["hook_bare"], "<=", 25)
	}
	if ("hook_hist_2t" in ns)
		target("histograms of two threads over those of one", ns["hook_hist"] / ns["hook_hist_2t"], ">=", 1.8)
	if ("bpftrace_count" in ns)
		ratio("bpftrace map count over a histogram by an int", ns["bpftrace_count"] / ns["hook_hist"])
	if ("fw_m3_write_bytes" in ns) {
		target("write path on Cortex-M3 at -Os, bytes of code", ns["fw_m3_write_bytes"], "<=", 256)
		target("whole writer with an event and reset, bytes of code", ns["fw_m3_whole_bytes"], "<=", 1024)
		target("RAM of a ring beside its pages, bytes", ns["fw_m3_ring_ram_bytes"], "<=", 64)
	}
	if ("fw_m3_event_16_instructions" in ns)
		target("an event of 16 bytes on Cortex-M3, instructions", ns["fw_m3_event_16_instructions"], "<=", 100)
	if ("barectf_m3_whole_bytes" in ns) {
		ratio("barectf over ours, code with an event", ns["barectf_m3_whole_bytes"] / ns["fw_m3_whole_bytes"])
		ratio("barectf over ours, code of one more kind of event", ns["barectf_m3_kind_bytes"] / ns["fw_m3_site_bytes"])
	}
	if ("barectf_m3_event_16_instructions" in ns)
		ratio("barectf over ours, instructions of an event", ns["barectf_m3_event_16_instructions"] / ns["fw_m3_event_16_instructions"])
	if ("fw_m3_write_bytes" in ns) {
		published("SystemView, code (SEGGER's manual, UM08027)", "about 1.8 KiB, and 0.5 of RTT")
		published("SystemView, RAM beside buffers (the same)", "about 70 bytes, and 30 of RTT")
		published("SystemView, an event (the same)", "below 1 us on a Cortex-M4 at 200 MHz: 200 cycles")
		published("barectf, an event", "no published figures were found; measured above")
	}
	if ("remote_read" in ns) {
		ratio("the hosted writer's event over a program's", ns["remote_write_hosted"] / ns["remote_write_program"])
		ratio("events of a remote that are read in a second, million", 1000 / ns["remote_read"])
	}
	if ("raw_direct_64" in ns) {
		ratio("raw pages one by one: mount over direct", ns["raw_mount_1"] / ns["raw_direct_1"])
		ratio("raw pages by 64: mount over direct", ns["raw_mount_64"] / ns["raw_direct_64"])
		if ("raw_mount_splice" in ns)
			ratio("raw pages by 64: splice over direct", ns["raw_mount_splice"] / ns["raw_direct_64"])
	}
	if (ns["net_tls_kb"] > 0) {
		speed = ns["net_plain_kb"] / ns["net_tls_kb"]
		worst = ns["net_tls_sender_kb"] > ns["net_tls_receiver_kb"] ? ns["net_tls_sender_kb"] : ns["net_tls_receiver_kb"]
		core = worst > 0 ? 1000 / worst : 0
		ratio("speed with TLS over that without", speed)
		ratio("GB a second on a core, the slower side", core)
		target("0.8 of the one or 1 of the other", core > speed / 0.8 ? core : speed / 0.8, ">=", 1)
	}
	ours = ns["net_kernel_plain_sender_kb"] + ns["net_kernel_plain_receiver_kb"]
	safe = ns["net_kernel_tls_sender_kb"] + ns["net_kernel_tls_receiver_kb"]
	if (ours > 0 && safe > 0) {
		stock = ns["net_kernel_trace_cmd_sender_kb"] + ns["net_kernel_trace_cmd_receiver_kb"]
		ratio("trace-cmd's CPU for a byte sent, over ours", stock / ours)
		ratio("the same over ours with TLS", stock / safe)
	}
}
