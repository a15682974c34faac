import { createTwoFilesPatch } from 'diff'

/** The change of a file in the format of a unified diff. */
export function fileDiff(path: string, before: string, after: string): string {
  return createTwoFilesPatch(`a/${path}`, `b/${path}`, before, after, '', '', { context: 3 })
    .split('\n')
    .filter((line) => !/^={10,}$/.test(line))
    .join('\n')
}
