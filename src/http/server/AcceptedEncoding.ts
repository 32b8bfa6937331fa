/** Whether a client whose `accept-encoding` this is takes an encoding: named, and not with a weight of 0. */
export const takesEncoding = (accepted: string, encoding: string): boolean =>
  accepted.split(",").some((each) => {
    const [name = "", ...parameters] = each.split(";").map((part) => part.trim())
    return name.toLowerCase() === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/i.test(parameter))
  })
