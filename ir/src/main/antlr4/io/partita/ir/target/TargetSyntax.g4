/** The text form of a target description: devices, their memories and links, and where each figure
 *  is from. LL(1), and no rule calls itself: any input takes linear time and constant stack. */
grammar TargetSyntax;

// target 1
version : 'target' INTEGER ;

// target siracusa(chips = 8 in 1..64 from paper "V-C") "what it is" {
//   source paper = "title, venue"
target : 'target' WORD parameters? STRING '{' statement* '}' EOF ;

parameters : '(' parameter (',' parameter)* ')' ;

parameter : WORD '=' quantity 'in' quantity '..' quantity origin ;

statement : source | chip | devices | link | connect ;

source : 'source' WORD '=' STRING ;

//   chip siracusa {
//     cores = 8 from paper "II-B"
chip : 'chip' WORD ('like' WORD)? '{' (setting | memory | dma | kernel)* '}' ;

//     memory l2 { bytes = 2 MiB from paper "III-B" }
memory : 'memory' WORD block ;

//     dma l2 -> l1 { rate = 8 B/cycle from measured }     both directions share it: l3 <-> l2
dma : 'dma' WORD direction WORD block ;

direction : '->' | '<->' ;

//     kernel matmul i8 { rate = 19.9 MAC/cycle from measured }
kernel : 'kernel' WORD WORD block ;

//   devices chips of siracusa from paper "V-C"
devices : 'devices' value 'of' WORD origin ;

//   link mipi { bandwidth = 0.5 GB/s from paper "II-B" }
link : 'link' WORD block ;

//   connect tree of mipi from paper "figure 1" { group = 4 from paper "figure 1" }
//   connect 0 - 3 of mipi from paper
connect : 'connect' (WORD | INTEGER '-' INTEGER) 'of' WORD origin block? ;

block : '{' setting* '}' ;

setting : WORD '=' value origin ;

// The word is a parameter of the target.
value : quantity | STRING | WORD ;

quantity : (INTEGER | DECIMAL | HEXADECIMAL) unit? ;

unit : WORD ('/' WORD)? ;

origin : 'from' WORD STRING? ;

HEXADECIMAL : '0x' [0-9a-fA-F]+ ;

INTEGER : [0-9]+ ;

DECIMAL : [0-9]+ '.' [0-9]+ EXPONENT? | [0-9]+ EXPONENT ;

WORD : [A-Za-z_] [A-Za-z0-9_]* ('-' [A-Za-z0-9_]+)* ;

STRING : '"' (~["\\\u0000-\u001f] | '\\' ["\\])* '"' ;

COMMENT : '//' ~[\n]* -> skip ;

SPACE : [ \t\r\n]+ -> skip ;

fragment EXPONENT : [eE] [+-]? [0-9]+ ;
