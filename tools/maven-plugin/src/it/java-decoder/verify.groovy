String log = new File(basedir, 'build.log').text
assert log.count('is unchanged since it was compiled') == 1 : 'the second build compiles nothing'
assert log.count('recorded cases passed') == 1 : 'the first build checks'
assert log.count('the recorded cases have passed and are unchanged') == 1
assert log.count('Tests run: 2, Failures: 0, Errors: 0, Skipped: 0') >= 2
String description = new File(basedir, 'target/generated-sources/partita/decoder/model.json').text
assert description.contains('"devices"') : 'the third build compiles for two devices, offline'
