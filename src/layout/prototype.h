/*
 * layout/prototype: what a function takes and gives, as a text: how symbol/ tells it, how recordings keep it, and what decode/
 * prints arguments by. And what a path of C leads to from a parameter, for probes.
 *
 *   i4(i4@0 item,p@1 customer,f8 price,s16@2+2 where)
 *
 *   PROTOTYPE:  KIND ( [PARAMETER {, PARAMETER}] )    its return value, its parameters
 *   PARAMETER:  KIND [@ FIRST [+ COUNT]] [NAME]       in which general registers it is: of those for arguments, in their order.
 *                                                     None of them: it is elsewhere, or that is not known
 *   KIND:       v  none at all                  iN uN  a number of N bytes, with a sign or without
 *               p  a pointer, a reference       b      a truth value
 *               eN an enumeration               fN     what goes into vector registers, or the x87's
 *               sN a structure or union         ?      not known
 *
 * When the parameters as a whole are not known, `?` stands for all of them: i4(?).
 *
 *   p+16+8          order->customer->name: at what lies 16 bytes behind `order`, 8 bytes behind that
 *   u4:3@5+0        order->colour: of the four bytes there, three bits from the fifth on
 *
 *   MEMBER:     KIND [: BITS @ SHIFT] + OFFSET {+ OFFSET}     of kinds there is one more: a, several bytes, which may be a text
 *               ! AT                                          what is before that place of the path is no pointer to a structure, or
 *                                                             no structure
 *               ? AT                                          the structure has no member of the name that is there
 *               * AT                                          it has one, but not in whole bytes of a number
 */
#ifndef LAYOUT_PROTOTYPE_H
#define LAYOUT_PROTOTYPE_H

#define PROTOTYPE_REGISTERS 6u	/* for arguments: rdi, rsi, rdx, rcx, r8, r9 */
#define PROTOTYPE_PARAMETERS_MAX 64u
#define PROTOTYPE_NAME_MAX 64u

#endif
