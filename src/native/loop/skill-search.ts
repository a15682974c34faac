import type { SessionPlace } from './instructions.ts'
import type { Skill } from './skill.ts'
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { definitionFolders } from '../../core/profile/definition-folders.ts'
import { isInside } from '../../safety/untrusted-file.ts'
import { folders } from './instructions.ts'
import { skillIn } from './skill.ts'

export type Skills = { skills: Skill[]; warnings: string[] }

const deepest = 4
const mostFolders = 2000
const mostSkills = 200

/** Finds every skill. Of several with one name the nearest wins, and the project's wins over the person's own. */
export function findSkills(ground: SessionPlace): Skills {
  const search = new SkillSearch(ground.root)
  const places = projectSkillPlaces(ground)
  if (ground.trusted) for (const place of places) search.walk(place, 'project')
  else if (places.length > 0)
    search.warnings.push(
      'The project’s skills are not used, because this folder is not trusted. To trust it, type /trust in the chat, or run termaite trust.',
    )
  search.walk(join(ground.home, 'skills'), 'user')
  return search.result()
}

/** The folders of skills in a project, nearest first. */
function projectSkillPlaces(ground: Pick<SessionPlace, 'cwd' | 'root'>): string[] {
  return folders(ground)
    .reverse()
    .flatMap((folder) => definitionFolders.skills.map((place) => join(folder, place)))
    .filter((place) => existsSync(place))
}

class SkillSearch {
  warnings: string[] = []
  #root: string
  #skills = new Map<string, Skill>()
  #seen = new Set<string>()
  #full = false

  constructor(root: string) {
    this.#root = root
  }

  walk(folder: string, from: Skill['from'], depth = 0): void {
    if (this.#full || depth > deepest || !this.#enter(folder, from)) return
    const file = skillFile(folder)
    if (file !== undefined) return this.#add(file, from)
    for (const name of subfolders(folder)) this.walk(join(folder, name), from, depth + 1)
  }

  result(): Skills {
    const skills = [...this.#skills.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
    return { skills, warnings: this.warnings }
  }

  /** Whether to search a folder: it was not searched before, and no link leads out of the project. */
  #enter(folder: string, from: Skill['from']): boolean {
    let real: string
    try {
      real = realpathSync(folder)
    } catch {
      return false
    }
    if (this.#seen.has(real)) return false
    this.#seen.add(real)
    this.#full = this.#seen.size >= mostFolders || this.#skills.size >= mostSkills
    if (this.#full) this.warnings.push(`There are too many skills: those after ${folder} are left out.`)
    if (from === 'user' || isInside(real, this.#root)) return !this.#full
    this.warnings.push(`${folder} is not used: it leads out of the project, to ${real}.`)
    return false
  }

  #add(file: string, from: Skill['from']): void {
    const within = from === 'project' ? this.#root : undefined
    const skill = skillIn(file, from, within, (words) => this.warnings.push(`${words}.`))
    if (typeof skill === 'string') {
      this.warnings.push(`${file} is not used: ${skill}.`)
      return
    }
    const first = this.#skills.get(skill.name)
    if (first) this.warnings.push(`${file} is not used: ${first.path} has the same name and comes first.`)
    else this.#skills.set(skill.name, skill)
  }
}

/** Finds the skill in a folder. The file is called SKILL.md in any case of letters; the usual spelling wins. */
function skillFile(folder: string): string | undefined {
  try {
    const names = readdirSync(folder).filter((name) => /^skill\.md$/i.test(name))
    const name = names.includes('SKILL.md') ? 'SKILL.md' : names.sort()[0]
    return name === undefined ? undefined : join(folder, name)
  } catch {
    return undefined
  }
}

function subfolders(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter(
        (one) => (one.isDirectory() || one.isSymbolicLink()) && one.name !== 'node_modules' && one.name !== '.git',
      )
      .map((one) => one.name)
      .sort()
  } catch {
    return []
  }
}
