// @ts-check
// What a user sees of the library: every export, and every member of an exported interface or class, has a docstring; every type of
// this package that stands in a public signature is exported; nothing is exported twice; a Layer is named as one; older compilers know the
// types.
import { join, relative } from "node:path"
import ts from "typescript"
import { root } from "../lib/root.mjs"

const entries = ["src/index.ts", "src/testing/index.ts", "src/effectAi/index.ts"].map((file) => join(root, file))
const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile)
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
const program = ts.createProgram(entries, { ...options, noEmit: true })
const checker = program.getTypeChecker()
const source = join(root, "src")

/** @type {Array<string>} */
const faults = []
/** @param {string} name @param {ts.Node | undefined} at @param {string} what */
const fault = (name, at, what) => {
  const file = at?.getSourceFile()
  const line = file === undefined || at === undefined ? 0 : file.getLineAndCharacterOfPosition(at.getStart()).line + 1
  faults.push(`${file === undefined ? "" : relative(root, file.fileName)}:${line} ${name}: ${what}`)
}

/** @param {ts.Symbol} symbol */
const resolved = (symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol)

/** @param {ts.Symbol} symbol */
const isOwn = (symbol) => symbol.declarations?.some((at) => at.getSourceFile().fileName.startsWith(source)) ?? false

/** @param {ts.Symbol} symbol */
const isDocumented = (symbol) =>
  symbol.getDocumentationComment(checker).length > 0 || symbol.getJsDocTags(checker).length > 0

/** Everything exported, the members of exported namespaces too, by what it resolves to. @type {Map<ts.Symbol, Array<string>>} */
const exported = new Map()
/** What is exported as a type: no program has its value. @type {Set<ts.Symbol>} */
const typeOnly = new Set()
/** @param {ts.Symbol} symbol @param {string} name */
const collect = (symbol, name) => {
  const target = resolved(symbol)
  if (symbol.declarations?.every((at) => ts.isExportSpecifier(at) && ts.isTypeOnlyExportDeclaration(at))) {
    typeOnly.add(target)
  }
  if (target.flags & ts.SymbolFlags.ValueModule) {
    for (const member of checker.getExportsOfModule(target)) collect(member, `${name}.${member.name}`)
    return
  }
  exported.set(target, [...(exported.get(target) ?? []), name])
}
for (const entry of entries) {
  const file = program.getSourceFile(entry)
  const symbol = file && checker.getSymbolAtLocation(file)
  if (symbol === undefined) throw new Error(`${entry} exports nothing`)
  for (const member of checker.getExportsOfModule(symbol)) collect(member, member.name)
}

/** Names of this package in a type that no entry exports. @param {ts.Type} type @param {string} name @param {ts.Declaration | undefined} at */
const requireExported = (type, name, at) => {
  const seen = new Set()
  /** @param {ts.Type} one @param {boolean} isRoot */
  const visit = (one, isRoot = false) => {
    if (seen.has(one)) return
    seen.add(one)
    const named = one.aliasSymbol ?? one.getSymbol()
    for (const argument of [...(one.aliasTypeArguments ?? []), ...typeArgumentsOf(one)]) visit(argument)
    if (named !== undefined && isOwn(named) && isNamed(named) && !isLocal(named)) {
      if (!isExported(named)) fault(name, at, `${named.name} stands in its type and is not exported`)
      if (!isRoot) return
    } else if (one.aliasSymbol !== undefined && !isOwn(one.aliasSymbol)) return
    else if (named !== undefined && !isOwn(named)) {
      if (!one.isUnionOrIntersection() && one.getCallSignatures().length === 0) return
    }
    if (one.isUnionOrIntersection()) for (const part of one.types) visit(part)
    for (const signature of one.getCallSignatures()) {
      for (const parameter of signature.getParameters()) visit(checker.getTypeOfSymbol(parameter))
      visit(signature.getReturnType())
    }
    for (const property of one.getProperties()) if (isOwn(property)) visit(checker.getTypeOfSymbol(property))
  }
  visit(type, true)
}

/** @param {ts.Type} type */
const typeArgumentsOf = (type) =>
  type.flags & ts.TypeFlags.Object && /** @type {ts.ObjectType} */ (type).objectFlags & ts.ObjectFlags.Reference
    ? checker.getTypeArguments(/** @type {ts.TypeReference} */ (type))
    : []

/** An interface, a class or an alias: what has a name that a user would write. @param {ts.Symbol} symbol */
const isNamed = (symbol) =>
  symbol.declarations?.some(
    (at) => ts.isInterfaceDeclaration(at) || ts.isClassDeclaration(at) || ts.isTypeAliasDeclaration(at)
  ) ?? false

/** An alias inside its own file: what it stands for is visited in its place. @param {ts.Symbol} symbol */
const isLocal = (symbol) =>
  symbol.declarations?.every(
    (at) => ts.isTypeAliasDeclaration(at) && !(ts.getCombinedModifierFlags(at) & ts.ModifierFlags.Export)
  ) ?? false

/** @param {ts.Symbol} symbol */
const isExported = (symbol) => exported.has(symbol) || exported.has(checker.getExportSymbolOfSymbol(symbol))

/** @param {ts.Type} type */
const isLayer = (type) => {
  const result = type.getCallSignatures()[0]?.getReturnType() ?? type
  return result.getSymbol()?.name === "Layer" && !isOwn(result.getSymbol() ?? /** @type {never} */ (undefined))
}

/** Arrays of bytes have had an argument since TypeScript 5.7: an older compiler of a consumer refuses one. */
const typedArrays = new Set(["Buffer", "Uint8Array"])

/** @param {ts.Node} node @param {string} name */
const refuseNewTypes = (node, name) => {
  if (ts.isBlock(node)) return
  if (ts.isTypeReferenceNode(node) && typedArrays.has(node.typeName.getText()) && node.typeArguments !== undefined) {
    fault(name, node, "it needs TypeScript 5.7")
  }
  ts.forEachChild(node, (child) => refuseNewTypes(child, name))
}

/** What says itself: an error's own members, and the name of a variant. */
const undocumented = new Set(["message", "cause", "_tag"])

for (const [symbol, names] of exported) {
  const name = names[0] ?? ""
  const at = symbol.declarations?.[0]
  if (!isOwn(symbol)) continue
  if (names.length > 1) fault(name, at, `it is exported more than once, as ${names.join(", ")}`)
  if (!isDocumented(symbol)) fault(name, at, "it has no docstring")
  for (const declaration of symbol.declarations ?? []) refuseNewTypes(declaration, name)
  const isValue = (symbol.flags & ts.SymbolFlags.Value) !== 0
  const isType = (symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias | ts.SymbolFlags.Class)) !== 0
  if (isValue && at !== undefined) {
    const type = checker.getTypeOfSymbolAtLocation(symbol, at)
    if (isLayer(type) && !/(?:^|\.)layer|Layer$/.test(name)) fault(name, at, "a Layer is named layer… or …Layer")
    if (!(symbol.flags & ts.SymbolFlags.Class)) requireExported(type, name, at)
    else {
      // effect declares `Service`, and the declarations of a program name its type wherever it uses the tag
      const service = type.getProperty("Service")
      if (service !== undefined && !typeOnly.has(symbol))
        requireExported(checker.getTypeOfSymbol(service), `${name}.Service`, at)
      for (const property of checker.getPropertiesOfType(type)) {
        if (property.name === "prototype" || !isOwn(property) || isPrivate(property)) continue
        const member = checker.getTypeOfSymbol(property)
        if (!isDocumented(property))
          fault(`${name}.${property.name}`, property.declarations?.[0], "it has no docstring")
        if (isLayer(member) && !property.name.startsWith("layer"))
          fault(`${name}.${property.name}`, at, "a Layer is named layer…")
        requireExported(member, `${name}.${property.name}`, property.declarations?.[0])
      }
    }
  }
  if (isType) {
    const type = checker.getDeclaredTypeOfSymbol(symbol)
    requireExported(type, name, at)
    if (!type.isClassOrInterface()) continue
    for (const property of type.getProperties()) {
      if (!isOwn(property) || isPrivate(property) || undocumented.has(property.name) || property.name.startsWith("__@"))
        continue
      if (!isDocumented(property)) fault(`${name}#${property.name}`, property.declarations?.[0], "it has no docstring")
      requireExported(checker.getTypeOfSymbol(property), `${name}#${property.name}`, property.declarations?.[0])
    }
  }
}

/** Left out of the declarations that are packed, or not for the user of a class. @param {ts.Symbol} symbol */
function isPrivate(symbol) {
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected
  return (
    symbol.getJsDocTags(checker).some(({ name }) => name === "internal") ||
    (symbol.declarations?.some((at) => (ts.getCombinedModifierFlags(at) & hidden) !== 0) ?? false)
  )
}

for (const one of [...new Set(faults)].sort()) console.error(one)
console.log(`${exported.size} exports, ${new Set(faults).size} faults`)
if (faults.length > 0) process.exit(1)
