/** The operations of the graph dialect: attributes, type inference and reference meaning. */
package io.partita.ir.op;
