/** Element types, dimensions, shapes. */
package io.partita.ir.type;
