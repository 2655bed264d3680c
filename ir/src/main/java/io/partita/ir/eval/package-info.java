/** The reference evaluator: the meaning of each operation, in plain Java. */
package io.partita.ir.eval;
