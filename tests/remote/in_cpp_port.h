/* As much of a port as headers need. */
#define PORT_CLOCK_BITS 64
#define PORT_SECTION
