/** The text form of a schedule. LL(1). Only values and expressions nest, and ScheduleParser bounds how
 *  deeply; offsets are in bytes, strides in elements. */
grammar ScheduleSyntax;

// sched 1
version : 'sched' INTEGER ;

// schedule "siracusa:chips=2" of "decoder" {
//   mesh(chips=2)
//   input "x" "f32[4,64]"
//   output "y" "f32[4,64{chips}]"
schedule : 'schedule' STRING 'of' STRING '{' mesh input* output* role* '}' EOF ;

mesh : 'mesh' '(' (axis (',' axis)*)? ')' ;

axis : name '=' integer ;

input : 'input' STRING STRING ;

output : 'output' STRING STRING ;

//   role devices 0, 1 {
//     cores 1 x 8
//     memory l1 shared, aligned 4 B { used 1024 B, needed 1024 B, of 245760 B }
//     in "x": f32[4,64] at l2 0x100
role
    : 'role' 'devices' integer (',' integer)* '{' cores memory* port* constant* residence* loop*
      steps steps '}'
    ;

// Products of elements of 16 bits are summed in f32 unless another type is named.
cores : 'cores' integer 'x' integer (',' 'sums' name)? ;

// From the nearest to the cores to the farthest; names are those of the target.
memory
    : 'memory' name ('shared' | 'private') ',' 'aligned' bytes '{' 'used' bytes ',' 'needed' bytes ',' 'of' bytes '}'
    ;

// The values that an input may hold: from 0 to 255.
port : ('in' | 'out' | 'state') STRING ':' type place ('from' integer 'to' integer)? ;

place : 'at' address ;

// A memory of the role, and an offset in it.
address : name integer ;

bytes : integer 'B' ;

type : name '[' (integer (',' integer)*)? ']' ;

//     constant "weight" @block0.query at l2 0x40, 16 B {
//       [1.0, 2.0, 3.0, 4.0] : f32[4]
//       weight 64 : f32[64,64] "ef46db3751d8e999"
//     } "layer 0"
constant : 'constant' origin place ',' bytes '{' data* '}' STRING ;

data : (element | '[' (element (',' element)*)? ']' | 'weight' integer) ':' type STRING? ;

element : '-'? (INTEGER | DECIMAL | NAN_BITS | name) ;

//     holds "x" at l2 0x100, 1024 B from -1 to 3
residence : 'holds' STRING place ',' bytes 'from' integer 'to' integer ;

//     loop gemm_f32_4x64 {
//       axis n 64 by 16
//       axis keys 128 by 16 until min(length.value, 128)
//       load x: f32 [0 + 4 of 4 step 64, n + n.size of 64 step 1] at l1 0, 2 x 256 B
//       scratch sums at l1 512, 64 B
//       call gemm_f32 last n {
//         left = &x, m = 4, n = n.size, bias = &bias when n.last
//       }
//       stage control { await x, await n, call 0 { next x }, store y }
//     } 33280 B
loop : 'loop' name '{' tileAxis* operand* scratch* call* stage* '}' bytes ;

// Where each core has its own working memory, tiles of an axis are dealt over rows, columns or cores.
tileAxis : 'axis' name integer 'by' integer ('until' expression)? over? ;

over : 'over' name ;

// An operand in place is in the working memory. A second name behind the type is the packing: bf8_b.
operand
    : ('load' | 'store' | 'scalar') name ':' name name? '[' (box (',' box)*)? ']'
      (place ',' integer 'x' bytes | 'in' 'place') buffer? multicast?
    ;

buffer : 'in' 'buffer' integer 'of' bytes 'pages' ;

multicast : 'multicast' 'along' name ;

// What one processor does for each tile; stages run at the same time.
stage : 'stage' name '{' (action (',' action)*)? '}' ;

action : ('await' | 'load' | 'next' | 'store') name | 'call' integer ('{' action (',' action)* '}')? ;

box : expression 'for' expression 'of' integer 'step' integer ;

scratch : 'scratch' name place ',' bytes ;

call
    : 'call' name ('first' onFirst=where)? ('last' onLast=where)? fields
    ;

// The axes along all of which a tile must be the first one, or the last one.
where : name (',' name)* ;

fields : '{' (field (',' field)*)? '}' ;

field : name '=' value ;

value : 'null' | 'number' '(' element ')' | fields | list | pointer | expression ;

list : '[' (expression (',' expression)*)? ']' ;

// Elements from the start of an operand's tile, bytes from that of scratch memory.
pointer : '&' name ('[' expression ']')? ('when' expression)* ;

expression : term (('+' | '-') term)* ;

term : factor ('*' factor | '/' INTEGER)* ;

// Where the tile begins along an axis is the axis' name; n.size, n.first, n.last; length.value is a scalar.
factor : '-'? INTEGER | '(' expression ')' | name ('.' name | '(' expression ',' expression ')')? ;

//     start { … }
//     run {
//       0: tiles gemm_f32_4x64(0x100, 0x40, 0x500) "f32[4,64] x f32[64,64]" "q_proj" @block0.query
steps : ('start' | 'run') '{' numbered* '}' ;

numbered : INTEGER ':' (tiles | transfer | wait_ | preload | await_ | rows | awaitRows | begin | exchange | guard | clear) origin ;

// The name in the model, and the part of the transformer.
origin : STRING PART? ;

tiles : 'tiles' name '(' (integer (',' integer)*)? ')' STRING ;

transfer
    : 'fetch' integer address address ',' bytes
    | 'spill' integer address address ',' (bytes | stateLines)
    ;

// One line of 256 in each of 4 parts, 128 B each; the first one's number is at an offset in L2.
//       2: spill 4 l3 0x8000 l2 0x100, lines 1 of 256 x 4, 128 B by i64 0x900 "past" @block0
stateLines : 'lines' integer 'of' integer 'x' integer ',' bytes 'by' name integer CIRCULAR? ;

wait_ : 'wait' integer ;

preload : 'preload' integer address address ',' bytes ;

await_ : 'await' integer ;

rows
    : 'rows' integer ':' integer 'of' integer address ',' bytes 'by' name integer address
    ;

awaitRows : 'await' 'rows' integer ;

//       2: begin "residual" @block0.residual
begin : 'begin' ;

//       3: exchange f32 operand 0x100 result 0x900 vector 0x500 message 0x700 l1 0, 1024 B {
//            0 of 128 before "0+64" after "0+128" steps "send 1 (256 B): 0+64; …"
//          } "residual" @block0.residual
exchange
    : 'exchange' name operandPlace? resultPlace? 'vector' integer messagePlace? address ','
      bytes '{' device* '}'
    ;

operandPlace : 'operand' integer ;

resultPlace : 'result' integer ('lines' bytes 'step' bytes)? ;

messagePlace : 'message' integer ;

device : integer 'of' integer 'before' STRING 'after' STRING 'steps' STRING ;

clear : 'clear' address ',' bytes ;

// The next steps run only if the byte at the first offset is true and that at the second one isn't:
//       4: when 0x00120, not 0x00130 for 3 hits (1) misses (0, 1) "residual" @block0.residual
// If all comparisons are true, device 1 runs them; if all are false, devices 0 and 1 do.
guard : 'when' condition (',' condition)* 'for' integer foreseen? ;

foreseen : 'hits' numbers 'misses' numbers ;

numbers : '(' (integer (',' integer)*)? ')' ;

condition : 'not'? integer ;

integer : '-'? (INTEGER | HEXADECIMAL) ;

// What begins a line stays usable as a name.
name
    : WORD | 'sched' | 'schedule' | 'mesh' | 'input' | 'output' | 'role' | 'devices' | 'used' | 'needed' | 'of'
    | 'at' | 'B' | 'constant' | 'weight' | 'holds' | 'from' | 'to' | 'loop' | 'axis' | 'by' | 'until'
    | 'load' | 'store' | 'scalar' | 'x' | 'for' | 'step' | 'scratch' | 'call' | 'first' | 'last' | 'tiles'
    | 'fetch' | 'spill' | 'wait' | 'rows' | 'begin' | 'exchange' | 'operand' | 'result' | 'vector'
    | 'message' | 'lines' | 'in' | 'out' | 'state' | 'start' | 'run' | 'before' | 'after' | 'steps' | 'clear' | 'when' | 'not'
    | 'hits' | 'misses' | CIRCULAR
    | 'cores' | 'sums' | 'memory' | 'shared' | 'private' | 'aligned' | 'place'
    | 'stage' | 'await' | 'next' | 'over' | 'buffer' | 'pages' | 'multicast' | 'along'
    ;

CIRCULAR : 'circular' ;

PART : '@' [a-z0-9.]+ ;

NAN_BITS : 'nan:0x' [0-9a-f]+ ;

HEXADECIMAL : '0x' [0-9a-f]+ ;

INTEGER : [0-9]+ ;

DECIMAL : [0-9]+ '.' [0-9]+ EXPONENT? | [0-9]+ EXPONENT ;

WORD : [A-Za-z_] [A-Za-z0-9_]* ;

STRING : '"' (~["\\\u0000-\u001f] | '\\' ~[\u0000-\u001f])* '"' ;

COMMENT : '//' ~[\n]* -> skip ;

SPACE : [ \t\r\n]+ -> skip ;

fragment EXPONENT : [eE] [+-]? [0-9]+ ;
