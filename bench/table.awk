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

{ ns[$1] = $2; order[NR] = $1 }

END {
	for (i = 1; i <= NR; i++) {
		name = order[i]
		if (name ~ /^loop/ || name ~ /^disabled_loop/)
			continue
		row(name, ns[name], name == "memory_kib" ? "KiB" : "ns")
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
}
