import { describe, expect, it } from '@jest/globals';
import { namedColumns } from './telemetry.ts';

const named = (statement: string, columns: readonly string[]): readonly string[] | undefined => {
  const found = namedColumns(statement);
  return found && columns.filter((column) => found.has(column));
};
const some = ['name', 'body', 'service_name', 'attributes', 'time'];

describe('columns that a statement names', () => {
  it.each([
    ['SELECT `name` FROM _ AS `spans`', ['name']],
    ["SELECT count(*) FROM _ AS `spans` WHERE (`service_name` = 'a')", ['service_name']],
    ['SELECT count( * ), `name` FROM _ AS `spans`', ['name']],
    ['SELECT (`duration_nano` * 2) AS `time` FROM _ AS `spans`', ['time']],
    ["SELECT `attributes`['body'] FROM _ AS `spans`", ['body', 'attributes']],
    ['SELECT `s`.`name` FROM _ AS `s` INNER JOIN _ AS `l` USING (`service_name`)', ['name', 'service_name']],
    ['SELECT 1', []],
  ])('%s', (statement, columns) => {
    expect(named(statement, some)).toEqual(columns);
  });

  it.each([
    'SELECT * FROM _ AS `spans`',
    'SELECT DISTINCT * FROM _ AS `spans`',
    'SELECT DISTINCT ON (`name`) * FROM _ AS `spans`',
    'SELECT `spans`.* FROM _ AS `spans`',
    'SELECT `name`, * FROM _ AS `spans`',
    'SELECT tuple(*) FROM _ AS `spans`',
    'SELECT count(*), * FROM _ AS `spans`',
    "SELECT COLUMNS('na') FROM _ AS `spans`",
    'SELECT count(DISTINCT *) FROM _ AS `spans`',
  ])('%s: may name any', (statement) => {
    expect(namedColumns(statement)).toBeUndefined();
  });
});
