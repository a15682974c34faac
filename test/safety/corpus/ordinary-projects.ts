import type { Family } from './ordinary-commands.ts'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { isWithin } from '../../../src/base/files/real-path.ts'

const clone = join(import.meta.dirname, '..', '..', '..')

/** The person's programs without those of this clone, which is no part of their machine. */
const ownFolders = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => folder !== '' && !isWithin(clone, folder) && !folder.endsWith(join('node_modules', '.bin')))
const path = ownFolders.join(delimiter)

const found = (program: string): string | undefined =>
  spawnSync('sh', ['-c', `command -v ${program}`], { env: { ...process.env, PATH: path }, encoding: 'utf8' })
    .stdout.trim()
    .split('\n')
    .find((line) => line.startsWith('/'))

/** The folder of Rust's own programs: those in front of it look for them in the home, which is another one here. */
const rust = spawnSync('sh', ['-c', 'rustc --print sysroot'], { env: process.env, encoding: 'utf8' }).stdout.trim()
const mavenPlugins = join('.m2', 'repository', 'org', 'apache', 'maven', 'plugins')
const chromium = found('chromium')
const playwright = ['/usr/local/lib', '/usr/lib']
  .map((folder) => join(folder, 'node_modules', 'playwright'))
  .find((folder) => existsSync(folder))

const has = (...programs: string[]) => programs.every((program) => found(program) !== undefined)

/**
 * Why the commands of a family cannot be tried on this machine; false where they can. The reason is the same whatever is missing,
 * because test/skipped.json names it. A small tool that is missing, such as jq, is missing outside and inside alike.
 */
export const absent: Readonly<Record<Family, string | false>> = {
  shell: !has('git', 'node') && 'git and Node are not installed',
  node: !has('git', 'node', 'npm') && 'git and npm are not installed',
  server: !has('git', 'node', 'npm', 'curl') && 'git, npm and curl are not installed',
  git: !has('git') && 'git is not installed',
  npm: !has('git', 'npm') && 'git and npm are not installed',
  pnpm: !has('git', 'pnpm') && 'pnpm is not installed',
  cargo: !has('cargo') && 'Rust is not installed',
  go: !has('go', 'gcc') && 'Go and gcc are not installed',
  python: !has('python3', 'pip', 'pytest') && 'Python, pip and pytest are not installed',
  maven:
    !(has('mvn', 'javac') && existsSync(join(homedir(), mavenPlugins))) &&
    'Maven, its plugins and a JDK are not installed',
  gradle: !has('gradle', 'javac') && 'Gradle and a JDK are not installed',
  playwright:
    !(has('chromium', 'npx') && playwright !== undefined) && 'Playwright and Chromium are not installed for everybody',
}

/** The environment of a person at their own machine, with a home of the test's. */
export const personEnvironment = (home: string): Record<string, string> => ({
  PATH: [...(rust === '' ? [] : [join(rust, 'bin')]), path].join(delimiter),
  HOME: home,
  USER: 'ada',
  LANG: 'C.UTF-8',
  TERM: 'dumb',
  SHELL: '/bin/bash',
  // A word about a newer npm would come outside alone, where the network is.
  npm_config_update_notifier: 'false',
  ...(rust === '' ? {} : { RUSTUP_HOME: dirname(dirname(rust)) }),
  ...(process.env.PYENV_ROOT === undefined ? {} : { PYENV_ROOT: process.env.PYENV_ROOT }),
})

/** Lays the home of a person who has worked here before: a name for git, and what their tools have downloaded. */
export function layHome(home: string): void {
  mkdirSync(home, { recursive: true })
  const settings = '[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n'
  writeFileSync(join(home, '.gitconfig'), settings)
  if (absent.maven === false) layRepository(join(home, '.m2', 'repository'))
}

/** Lays what Maven has downloaded. */
function layRepository(place: string): void {
  mkdirSync(dirname(place), { recursive: true })
  execFileSync('cp', ['-a', join(homedir(), '.m2', 'repository'), place])
}

/**
 * Lays the caches of a project that was built behind the wall before. A Maven before 3.9 has no second layer beneath the private
 * repository, and downloads into it with the first build.
 */
export function layCaches(family: Family, folder: string, env: Record<string, string>): void {
  if (family !== 'maven' || absent.maven !== false) return
  const [, major, minor] = /Maven (\d+)\.(\d+)/.exec(execFileSync('mvn', ['-v'], { env, encoding: 'utf8' }))!
  if (Number(major) * 100 + Number(minor) < 309) layRepository(join(folder, 'maven'))
}

/** Lays the project of a family: a repository with a few commits and work that is not committed yet. */
export function layProject(family: Family, folder: string, env: Record<string, string>): void {
  const files = projects[family]()
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    if (text.startsWith('#!')) chmodSync(file, 0o755)
  }
  const at = (day: number) => `2024-03-0${day}T12:00:00Z`
  const run = (day: number, program: string, ...args: string[]) =>
    execFileSync(program, args, {
      cwd: folder,
      env: { ...env, GIT_AUTHOR_DATE: at(day), GIT_COMMITTER_DATE: at(day) },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
  run(1, 'git', 'init', '-q', '-b', 'main')
  run(1, 'git', 'add', '-A')
  run(1, 'git', 'commit', '-qm', 'Begin')
  if (family === 'pnpm' && absent.pnpm === false) run(1, 'pnpm', 'install', '--offline')
  if (family === 'playwright') {
    mkdirSync(join(folder, 'node_modules', '.bin'), { recursive: true })
    const installed = join(folder, 'node_modules', 'playwright')
    if (playwright !== undefined) symlinkSync(playwright, installed)
    else {
      // The question about a command depends on whether its program is there: a package of that name is enough, and is never run.
      mkdirSync(installed)
      writeFileSync(join(installed, 'cli.js'), '')
    }
    symlinkSync('../playwright/cli.js', join(folder, 'node_modules', '.bin', 'playwright'))
  }
  if (!isShop(family)) return
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync('../packages/money', join(folder, 'node_modules', 'shop-money'))
  run(2, 'git', 'tag', 'v1.0.0')
  change(folder, 'src/cart.js', (text) => text.replace('// TODO: taxes\n', ''))
  run(2, 'git', 'commit', '-qam', 'Leave the taxes to the price')
  change(folder, 'README.md', (text) => `${text}\nRun it with \`npm start\`.\n`)
  run(3, 'git', 'commit', '-qam', 'Say how it is run')
  run(4, 'git', 'checkout', '-q', '-b', 'feature/discount')
  writeFileSync(join(folder, 'src', 'discount.js'), 'export const discount = (sum) => (sum > 100 ? sum * 0.9 : sum)\n')
  run(4, 'git', 'add', '-A')
  run(4, 'git', 'commit', '-qm', 'Add a discount')
  run(5, 'git', 'checkout', '-q', 'main')
  change(folder, 'src/price.js', (text) => text.replace('1.19', '1.2'))
  writeFileSync(join(folder, 'notes.md'), '# Notes\n')
}

const isShop = (family: Family) => ['shell', 'node', 'server', 'git', 'npm'].includes(family)

function change(folder: string, name: string, by: (text: string) => string): void {
  writeFileSync(join(folder, name), by(projects.shell()[name]!))
}

/** Puts a project back as it was laid, at the same place. */
export function layAgain(laid: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  execFileSync('cp', ['-a', laid, folder])
}

type Files = Record<string, string>
const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`

function shop(): Files {
  return {
    'package.json': json({
      ...{ name: 'shop', version: '1.0.0', private: true, type: 'module', main: 'src/index.js' },
      scripts: {
        build: 'node scripts/build.mjs',
        test: 'node --test',
        lint: 'node scripts/lint.mjs',
        typecheck: 'node --check src/index.js',
        start: 'node src/server.js',
      },
      dependencies: { 'shop-money': 'file:packages/money' },
    }),
    'package-lock.json': json({
      ...{ name: 'shop', version: '1.0.0', lockfileVersion: 3, requires: true },
      packages: {
        '': { name: 'shop', version: '1.0.0', dependencies: { 'shop-money': 'file:packages/money' } },
        'node_modules/shop-money': { resolved: 'packages/money', link: true },
        'packages/money': { name: 'shop-money', version: '1.0.0' },
      },
    }),
    'packages/money/package.json': json({
      ...{ name: 'shop-money', version: '1.0.0', type: 'module', main: 'index.js' },
      scripts: { test: 'node --check index.js' },
    }),
    'packages/money/index.js': 'export const inEuros = (cents) => (cents / 100).toFixed(2)\n',
    'src/index.js':
      "import { total } from './cart.js'\nimport { withTax } from './price.js'\n\nconsole.log(withTax(total([{ price: 5, count: 2 }])))\n",
    'src/cart.js':
      '// TODO: taxes\n/** The sum of all items. */\nexport function total(items) {\n  let sum = 0\n  for (const { price, count } of items) sum += price * count\n  return sum\n}\n',
    'src/price.js':
      'const tax = 1.19\n\nexport function withTax(price) {\n  return Math.round(price * tax * 100) / 100\n}\n',
    'src/util/format.js': 'export const padded = (text) => text.padEnd(10)\n',
    'src/server.js': `import { createServer } from 'node:http'
import { readFileSync } from 'node:fs'

if (process.argv.includes('--help')) {
  console.log('PORT=<number> node src/server.js')
  process.exit(0)
}
const server = createServer((request, response) => {
  if (request.url === '/health') return response.end('healthy\\n')
  if (request.url === '/orders') return response.end(readFileSync('data/orders.json'))
  response.writeHead(request.url === '/' ? 200 : 404).end()
})
server.listen(process.env.PORT ?? 0, '127.0.0.1')
`,
    'test/cart.test.js':
      "import { test } from 'node:test'\nimport assert from 'node:assert/strict'\nimport { total } from '../src/cart.js'\n\ntest('adds prices', () => assert.equal(total([{ price: 2, count: 3 }]), 6))\n",
    'test/price.test.js':
      "import { test } from 'node:test'\nimport assert from 'node:assert/strict'\nimport { withTax } from '../src/price.js'\n\ntest('adds the tax', () => assert.equal(withTax(100), 120))\n",
    'scripts/build.mjs':
      "import { cpSync, mkdirSync } from 'node:fs'\n\nmkdirSync('dist', { recursive: true })\ncpSync('src', 'dist', { recursive: true })\nconsole.log('built')\n",
    'scripts/lint.mjs':
      "import { readdirSync, readFileSync } from 'node:fs'\n\nconst found = readdirSync('src').filter((name) => name.endsWith('.js') && readFileSync(`src/${name}`, 'utf8').includes('var '))\nconsole.log(`${found.length} problems`)\nprocess.exit(found.length)\n",
    'tools/count.sh': '#!/bin/bash\nls "$1" | wc -l\n',
    'tools/report.py':
      'import csv\nimport sys\n\nwith open(sys.argv[1]) as file:\n    rows = list(csv.DictReader(file))\nprint(len(rows), sum(int(row["count"]) for row in rows))\n',
    'tools/sum.c':
      '#include <stdio.h>\n#include <stdlib.h>\n\nint main(int argc, char **argv) {\n  int sum = 0;\n  for (int i = 1; i < argc; i++) sum += atoi(argv[i]);\n  printf("%d\\n", sum);\n  return 0;\n}\n',
    'data/orders.csv': 'id,item,count\n1,tea,3\n2,cup,1\n3,tea,5\n',
    'data/orders.json': json([{ id: 1, item: 'tea', count: 3 }]),
    'logs/app.log': 'INFO started\nWARN slow\nERROR broke\nINFO ended\n',
    'config/default.json': json({ port: 3000, currency: 'EUR' }),
    'docs/api.md': '# API\n\nGET /health\n',
    'README.md': '# shop\n\nA small shop.\n\n## Use\n\n- `npm test`\n- `npm run build`\n\n## More\n\nSee docs.\n',
    Makefile:
      '.PHONY: build test clean\nbuild:\n\tnode scripts/build.mjs\ntest:\n\tnode --check src/cart.js\nclean:\n\trm -rf dist\n',
    '.gitignore': 'node_modules/\ndist/\n',
  }
}

function panel(): Files {
  const member = (name: string, more: object) =>
    json({
      ...{ name: `@panel/${name}`, version: '0.1.0', type: 'module', main: 'index.js' },
      scripts: { test: `node -e "console.log('${name} passed')"`, build: `node -e "console.log('${name} built')"` },
      ...more,
    })
  return {
    'package.json': json({
      ...{ name: 'panel', version: '0.1.0', private: true },
      scripts: {
        test: 'node packages/core/index.js',
        build: 'node -e "console.log(\'all built\')"',
        lint: 'node --check packages/core/index.js',
      },
    }),
    'pnpm-workspace.yaml': "packages:\n  - 'packages/*'\n",
    'packages/core/package.json': member('core', {}),
    'packages/core/index.js': "export const core = 1\nconsole.log('core', core)\n",
    'packages/web/package.json': member('web', { dependencies: { '@panel/core': 'workspace:*' } }),
    'packages/web/index.js': "import '@panel/core'\n",
    '.gitignore': 'node_modules/\n',
  }
}

function counter(): Files {
  return {
    'Cargo.toml': '[package]\nname = "counter"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\n',
    'Cargo.lock': 'version = 3\n\n[[package]]\nname = "counter"\nversion = "0.1.0"\n',
    'src/lib.rs':
      '/// Counts the words of a text.\npub fn words(text: &str) -> usize {\n    text.split_whitespace().count()\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn counts_words() {\n        assert_eq!(super::words("a b c"), 3);\n    }\n}\n',
    'src/main.rs':
      'use std::{env, fs, process::exit};\n\nfn main() {\n    let Some(path) = env::args().nth(1) else {\n        eprintln!("name a file");\n        exit(2);\n    };\n    let text = fs::read_to_string(path).expect("a file");\n    println!("{}", counter::words(&text));\n}\n',
    'tests/whole.rs': '#[test]\nfn an_empty_text_has_no_words() {\n    assert_eq!(counter::words(""), 0);\n}\n',
    'data/words.txt': 'one two three\nfour\n',
    '.gitignore': 'target/\n',
  }
}

function tally(): Files {
  return {
    'go.mod': 'module example.com/tally\n\ngo 1.19\n',
    'main.go':
      'package main\n\nimport (\n\t"fmt"\n\t"os"\n\n\t"example.com/tally/count"\n)\n\nfunc main() {\n\tif len(os.Args) < 2 {\n\t\tfmt.Println("name a file")\n\t\tos.Exit(2)\n\t}\n\ttext, err := os.ReadFile(os.Args[1])\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\tfmt.Println(count.Words(string(text)))\n}\n',
    'count/count.go':
      '// Package count counts.\npackage count\n\nimport "strings"\n\n// Words counts the words of a text.\nfunc Words(text string) int {\n\treturn len(strings.Fields(text))\n}\n',
    'count/count_test.go':
      'package count\n\nimport "testing"\n\nfunc TestWords(t *testing.T) {\n\tif Words("a b") != 2 {\n\t\tt.Fail()\n\t}\n}\n\nfunc BenchmarkWords(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tWords("a b")\n\t}\n}\n',
    'data/words.txt': 'one two three\nfour\n',
    '.gitignore': 'tally\n',
  }
}

function ledger(): Files {
  return {
    'pyproject.toml':
      '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n\n[project]\nname = "ledger"\nversion = "0.1.0"\n\n[tool.setuptools]\npackages = ["ledger"]\n',
    'requirements.txt': '# nothing yet\n',
    'ledger/__init__.py': '__version__ = "0.1.0"\n',
    'ledger/core.py':
      'def balance(entries):\n    """Sums entries by their account.\n\n    >>> balance([("a", 1), ("a", 2)])\n    {\'a\': 3}\n    """\n    sums = {}\n    for account, amount in entries:\n        sums[account] = sums.get(account, 0) + amount\n    return sums\n',
    'ledger/__main__.py':
      'import argparse\nimport csv\n\nfrom ledger.core import balance\n\nparser = argparse.ArgumentParser(prog="ledger")\nparser.add_argument("file")\nwith open(parser.parse_args().file) as file:\n    print(balance((account, int(amount)) for account, amount in csv.reader(file)))\n',
    'tests/test_core.py':
      'import unittest\n\nfrom ledger.core import balance\n\n\ndef test_balance():\n    assert balance([("a", 3), ("a", -1)]) == {"a": 2}\n\n\nclass Empty(unittest.TestCase):\n    def test_no_balance(self):\n        self.assertEqual(balance([]), {})\n',
    'tests/__init__.py': '',
    'tools/summary.py':
      'import sys\n\nfrom ledger.core import balance\n\nprint(len(open(sys.argv[1]).readlines()), balance([]))\n',
    'data/entries.csv': 'cash,3\nbank,5\ncash,-1\n',
    'data/rates.json': json({ eur: 1, usd: 1.1 }),
    '.gitignore': '__pycache__/\n.venv/\n*.egg-info/\nbuild/\n.pytest_cache/\n',
  }
}

function greeter(): Files {
  return {
    'pom.xml': `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.example</groupId>
  <artifactId>greeter</artifactId>
  <version>1.0.0</version>
  <properties>
    <maven.compiler.source>1.8</maven.compiler.source>
    <maven.compiler.target>1.8</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <build>
    <plugins>
      <plugin>
        <artifactId>maven-clean-plugin</artifactId>
        <version>3.4.0</version>
      </plugin>
      <plugin>
        <artifactId>maven-resources-plugin</artifactId>
        <version>3.3.1</version>
      </plugin>
      <plugin>
        <artifactId>maven-compiler-plugin</artifactId>
        <version>3.13.0</version>
      </plugin>
      <plugin>
        <artifactId>maven-surefire-plugin</artifactId>
        <version>3.2.5</version>
      </plugin>
      <plugin>
        <artifactId>maven-jar-plugin</artifactId>
        <version>3.4.2</version>
        <configuration>
          <archive><manifest><mainClass>greeter.Greeter</mainClass></manifest></archive>
        </configuration>
      </plugin>
    </plugins>
  </build>
</project>
`,
    'src/main/java/greeter/Greeter.java':
      'package greeter;\n\npublic class Greeter {\n    public static void main(String[] names) {\n        System.out.println("Hello " + names[0]);\n    }\n}\n',
    '.gitignore': 'target/\n',
  }
}

function parser(): Files {
  return {
    'settings.gradle': "rootProject.name = 'parser'\n",
    'build.gradle':
      "plugins {\n    id 'java'\n    id 'application'\n}\n\nversion = ''\nmainClassName = 'parser.Parser'\n\njar {\n    manifest { attributes 'Main-Class': mainClassName }\n}\n",
    'gradle.properties': 'org.gradle.daemon=false\n',
    gradlew: '#!/bin/sh\nexec gradle "$@"\n',
    'src/main/java/parser/Parser.java':
      'package parser;\n\n/** Adds. */\npublic class Parser {\n    /** Prints a sum. */\n    public static void main(String[] words) {\n        int sum = 0;\n        for (String word : words) for (String part : word.split("\\\\+")) sum += Integer.parseInt(part);\n        System.out.println(sum);\n    }\n}\n',
    '.gitignore': '.gradle/\nbuild/\n',
  }
}

function site(): Files {
  const options = `{ executablePath: '${chromium}', args: ['--no-sandbox', '--disable-gpu'] }`
  return {
    'package.json': json({ name: 'site', version: '1.0.0', private: true, scripts: { e2e: 'playwright test' } }),
    'playwright.config.js': `const { defineConfig } = require('playwright/test')

module.exports = defineConfig({
  testDir: 'tests',
  workers: 1,
  reporter: 'list',
  projects: [{ name: 'chromium', use: { browserName: 'chromium', launchOptions: ${options} } }],
})
`,
    'tests/home.spec.js':
      "const { test, expect } = require('playwright/test')\n\ntest('has a title', async ({ page }) => {\n  await page.setContent('<title>Home</title><h1>Hello</h1>')\n  await expect(page).toHaveTitle('Home')\n})\n",
    'tests/counter.spec.js':
      "const { test, expect } = require('playwright/test')\n\ntest('counts clicks', async ({ page }) => {\n  await page.setContent('<button onclick=\"this.textContent = 1\">0</button>')\n  await page.click('button')\n  await expect(page.locator('button')).toHaveText('1')\n})\n",
    'scripts/shot.mjs': `import { chromium } from 'playwright'

const browser = await chromium.launch(${options})
const page = await browser.newPage({ viewport: { width: 200, height: 100 } })
await page.setContent('<h1>Hello</h1>')
await page.screenshot({ path: 'shot.png' })
await browser.close()
`,
    '.gitignore': 'node_modules/\ntest-results/\n',
  }
}

const projects: Readonly<Record<Family, () => Files>> = {
  ...{ shell: shop, node: shop, server: shop, git: shop, npm: shop },
  ...{ pnpm: panel, cargo: counter, go: tally, python: ledger, maven: greeter, gradle: parser, playwright: site },
}
