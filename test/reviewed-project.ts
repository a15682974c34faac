import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const before = 'export function add(a, b) {\n  return a + b\n}\n'
const after =
  'export function add(a, b) {\n  return a - b\n}\n\nexport const avg = (list) => list.reduce(add) / list.length\n'

export const findings = [
  {
    file: 'sum.js',
    line: 2,
    severity: 'high',
    problem: 'add subtracts its second argument.',
    why: 'add(1, 2) gives -1, so every caller gets a wrong sum.',
    fix: 'Use a + b again.',
  },
  {
    file: 'sum.js',
    line: 5,
    severity: 'medium',
    problem: 'avg of an empty list throws.',
    why: 'reduce without a first value throws a TypeError for [].',
    fix: 'Give reduce 0 as its first value.',
  },
]

/** Makes a folder a repository with one commit, one faulty change, and the answer of a reviewer in a file that git ignores. */
export function reviewedProject(project: string): void {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: project, stdio: 'pipe' })
  git('init', '-q', '-b', 'main')
  writeFileSync(join(project, 'sum.js'), before)
  writeFileSync(join(project, '.gitignore'), 'answer.json\n')
  git('add', '-A')
  git('commit', '-qm', 'one')
  writeFileSync(join(project, 'sum.js'), after)
  const stray = { ...findings[1]!, file: 'other.js' }
  writeFileSync(join(project, 'answer.json'), JSON.stringify({ findings: [...findings, stray] }))
}
