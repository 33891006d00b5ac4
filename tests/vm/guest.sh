#!/bin/bash
# guest.sh - an agent at a port of the reference machine, as by ssh, for tests/net/guest.py outside: whoever has that port's other end drives it.
exec 3<>/dev/vport0p4 || exit 1
echo ready
exec ringside agent --stdio <&3 >&3
