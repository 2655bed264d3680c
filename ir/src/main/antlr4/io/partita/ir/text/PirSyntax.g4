/** The text form of a module in the graph dialect. LL(1), and no rule calls itself: any input takes
 *  linear time and constant stack. PirParser calls the four rules below one after another, so that
 *  the tree of one statement at a time is in memory. */
grammar PirSyntax;

// module {
//   state "past" -> "present"
//   graph @main(%x: f32[1,seq], %past: f32[4]) -> ("y": f32[1,seq]) {
moduleHeader : 'module' '{' state* graphHeader ;

state : 'state' STRING '->' STRING ;

graphHeader
    : 'graph' GLOBAL '(' (parameter (',' parameter)*)? ')' '->' '(' (output (',' output)*)? ')' '{'
    ;

parameter : VALUE ':' type ;

output : STRING ':' type ;

//     %0 = constant [1.0, 2.0] : f32[2]
//     %1 = weight {offset = 0, hash = "ef46db3751d8e999"} : f32[512,512] "q_proj.weight"
//     %2, %3 = top_k(%1) {k = 5, axis = 1, largest} : f32[512,5], i64[512,5] "node name"
statement : VALUE (',' VALUE)* '=' (constant | weight | operation) STRING? ;

constant : 'constant' (element | '[' (element (',' element)*)? ']') ':' type ;

weight : 'weight' attributes ':' type ;

operation
    : mnemonic '(' (VALUE (',' VALUE)*)? ')' attributes? ':' type (',' type)*
    ;

//     return %2
//   }
// }
ending : 'return' (VALUE (',' VALUE)*)? '}' '}' EOF ;

attributes : '{' (attribute (',' attribute)*)? '}' ;

attribute : word ('=' (scalar | STRING | dims))? ;

scalar : '-'? (INTEGER | DECIMAL | word) ;

element : '-'? (INTEGER | DECIMAL | NAN_BITS | word) ;

type : word dims ;

dims : '[' (dim (',' dim)*)? ']' ;

// 4*past+4
dim : sign? term (sign term)* ;

sign : '+' | '-' ;

term : factor ('*' factor)* ;

factor : INTEGER | STRING | word ;

mnemonic : WORD ;

// What begins a line stays usable as the name of a symbol or an attribute.
word : WORD | 'module' | 'graph' | 'state' | 'return' | 'constant' | 'weight' ;

VALUE : '%' (NAME | STRING | [0-9]+) ;

GLOBAL : '@' (NAME | STRING) ;

NAN_BITS : 'nan:0x' [0-9a-f]+ ;

WORD : [A-Za-z_] [A-Za-z0-9_.]* ;

INTEGER : [0-9]+ ;

DECIMAL : [0-9]+ '.' [0-9]+ EXPONENT? | [0-9]+ EXPONENT ;

STRING : '"' (~["\\\u0000-\u001f] | '\\' ~[\u0000-\u001f])* '"' ;

COMMENT : '//' ~[\n]* -> skip ;

SPACE : [ \t\r\n]+ -> skip ;

fragment NAME : [A-Za-z_] [A-Za-z0-9_./]* ;

fragment EXPONENT : [eE] [+-]? [0-9]+ ;
