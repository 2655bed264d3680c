/** The graph dialect's operations: attributes, shape rule and reference meaning of each. */
package io.partita.ir.op;
