// SPDX-License-Identifier: GPL-2.0-or-later
package main

import (
	"context"
	"encoding/json"

	resource "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"
)

type celCase struct {
	Selector string
	Driver   string
	Device   resource.Device
}

// At most one of Compile (it does not compile), Error (it fails on this device) and Match is set.
type celAnswer struct {
	Compile string `json:"compile,omitempty"`
	Error   string `json:"error,omitempty"`
	Match   bool   `json:"match"`
	Cost    uint64 `json:"cost"`
}

var celFeatures = cel.Features{EnableConsumableCapacity: true}

func judgeSelector(ctx context.Context, c *celCase) celAnswer {
	compiled := cel.GetCompiler(celFeatures).CompileCELExpression(c.Selector, cel.Options{DisableCostEstimation: true})
	if compiled.Error != nil {
		return celAnswer{Compile: compiled.Error.Detail}
	}
	match, details, err := compiled.DeviceMatches(ctx, cel.Device{
		Driver: c.Driver, AllowMultipleAllocations: c.Device.AllowMultipleAllocations,
		Attributes: c.Device.Attributes, Capacity: c.Device.Capacity})
	answer := celAnswer{Match: match}
	if details != nil && details.ActualCost() != nil {
		answer.Cost = *details.ActualCost()
	}
	if err != nil {
		answer.Error = err.Error()
	}
	return answer
}

func celVerdict(ctx context.Context, line []byte) any {
	var c celCase
	must(0, json.Unmarshal(line, &c))
	return judgeSelector(ctx, &c)
}
