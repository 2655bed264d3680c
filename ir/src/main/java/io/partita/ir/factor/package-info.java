/**
 * How splits pass through operations: a factor rule for each operation, and the operation's local
 * form on one device. Who propagates layouts knows rules only, no operation by name.
 */
package io.partita.ir.factor;
