/*
 * The events of the example shop: declared once, traced by both of its processes.
 */
#ifndef SHOP_EVENTS_H
#define SHOP_EVENTS_H

#include <ringside/ringside.h>

enum status { NEW, PAID, ON_CREDIT };
enum how { GIFT = 1, EXPRESS = 2, FRAGILE = 4 };

RINGSIDE_EVENT(shop, order,
	field(int, id),
	string(customer),
	field(double, price),
	symbols(enum status, status, {NEW, "new"}, {PAID, "paid"}, {ON_CREDIT, "on credit"}),
	print("id=%d customer=%s price=%.2f status=%s", id, customer, price, status))

RINGSIDE_EVENT(shop, pack,
	field(int, id),
	field(unsigned, shelf),
	flags(unsigned, how, {GIFT, "gift"}, {EXPRESS, "express"}, {FRAGILE, "fragile"}),
	print("id=%d shelf=%u how=%s", id, shelf, how))

RINGSIDE_EVENT(shop, ship,
	field(int, id),
	field(unsigned, grams),
	print("id=%d grams=%u", id, grams))

#endif
