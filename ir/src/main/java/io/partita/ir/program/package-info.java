/** The program dialect: what each device does, and the messages between devices. */
package io.partita.ir.program;
