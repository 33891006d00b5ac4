/* The texts of the board's events, as a program that brings a remote has them: in one of its files. */
#define RINGSIDE_FW_HOSTED
#define REMOTE_EVENT_INCLUDE_FILE library/remote_board.h
#include "../../fw/remote_events.h"
#include "library/remote_board.h"
#include "../../fw/define_remote_events.h"
