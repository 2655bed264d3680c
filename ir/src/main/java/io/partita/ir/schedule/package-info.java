/**
 * Schedules of chips: tiles, addresses, transfers and messages in order. Backends only print them.
 */
package io.partita.ir.schedule;
