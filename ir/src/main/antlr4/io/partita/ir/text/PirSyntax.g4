/** The text form of a module, in each of the dialects, and of a program, which has a module for each
 *  device. LL(1), and no rule calls itself: any input takes linear time and constant stack. PirParser
 *  calls the rules below one after another, so that the tree of one statement at a time is in memory. */
grammar PirSyntax;

// pir 1
version : 'pir' INTEGER ;

// program {
//   mesh(chips=2)
//   input "x": f32[1,512]
//   output "y": f32[1,512{chips}]
//   module {
programHeader : 'program' '{' mesh programInput* programOutput* ;

programInput : 'input' STRING ':' type ;

programOutput : 'output' STRING ':' type ;

// }
programEnding : '}' ;

end : EOF ;

// module {
//   mesh(chips=8)
//   state "past" -> "present" {capacity = 256, positions = 1024}
//   range "position" = [0, 255]
//   graph @main(%x: f32[1,seq], %past: f32[4]) -> ("y": f32[1,seq]) {
moduleHeader : 'module' '{' mesh? state* range* graphHeader ;

mesh : 'mesh' '(' (axis (',' axis)*)? ')' ;

axis : word '=' INTEGER ;

state : 'state' STRING '->' STRING attributes? ;

range : 'range' STRING '=' '[' bound ',' bound ']' ;

bound : '-'? INTEGER ;

graphHeader
    : 'graph' GLOBAL '(' (parameter (',' parameter)*)? ')' '->' '(' (output (',' output)*)? ')' '{'
    ;

parameter : VALUE ':' type ;

output : STRING ':' type ;

//     %0 = constant [1.0, 2.0] : f32[2]
//     %1 = weight {offset = 0, hash = "ef46db3751d8e999"} : f32[512,512] "q_proj.weight"
//     %2, %3 = top_k(%1) {k = [5], axis = 1, largest} : f32[512,5], i64[512,5] "node name"
//     %7 = linear(%5,%6) : f32[4,64] "q_proj/MatMul" @block0.query
//     %4 = sync(%0) {to = "[*{x}]"} : f32[2{x}]
statement : VALUE (',' VALUE)* '=' (constant | weight | operation) STRING? GLOBAL? ;

constant : 'constant' (element | '[' (element (',' element)*)? ']') ':' type ;

weight : 'weight' attributes ':' type ;

operation
    : mnemonic '(' (VALUE (',' VALUE)*)? ')' attributes? ':' type (',' type)*
    ;

//     return %2
//   }
// }
ending : 'return' (VALUE (',' VALUE)*)? '}' '}' ;

attributes : '{' (attribute (',' attribute)*)? '}' ;

attribute : word ('=' (scalar | STRING | dims))? ;

scalar : '-'? (INTEGER | DECIMAL | word) ;

element : '-'? (INTEGER | DECIMAL | NAN_BITS | word) ;

// What ShardedType prints; LayoutReader says what it means.
//   f32[1,16,512{x/64}] partial(sum: y) varying(z) at(w: 3)
type : word '[' (extent (',' extent)*)? ']' partial? varying? at? ;

extent : dim split? ;

split : '{' words ('/' INTEGER | ':' INTEGER (',' INTEGER)*)? '}' ;

words : word (',' word)* ;

partial : 'partial' '(' word ':' words ')' ;

varying : 'varying' '(' words ')' ;

at : 'at' '(' place (',' place)* ')' ;

place : word ':' INTEGER ;

dims : '[' (dim (',' dim)*)? ']' ;

// 4*past+4
dim : sign? term (sign term)* ;

sign : '+' | '-' ;

term : factor ('*' factor)* ;

factor : INTEGER | STRING | word ;

mnemonic : WORD ;

// What begins a line stays usable as the name of a symbol or an attribute.
word
    : WORD | 'pir' | 'program' | 'input' | 'output' | 'module' | 'mesh' | 'graph' | 'state' | 'range' | 'return'
    | 'constant' | 'weight'
    | 'partial' | 'varying' | 'at'
    ;

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
