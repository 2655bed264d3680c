/** The messages that a device sends and receives during an exchange. */
package io.partita.ir.message;
