/** The reference evaluator: what each operation means, in plain Java. */
package io.partita.ir.eval;
