// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.28;

/// @title Passes what it is paid on to several receivers: transfers of value inside a transaction
contract SampleSplitter {
    event Split(address indexed payer, uint256 amount, uint256 receivers);

    error NotPassedOn(address receiver);

    function split(address payable[] calldata receivers) external payable {
        uint256 share = msg.value / receivers.length;
        for (uint256 i = 0; i < receivers.length; ++i) {
            (bool passed, ) = receivers[i].call{value: share}("");
            require(passed, NotPassedOn(receivers[i]));
        }
        emit Split(msg.sender, msg.value, receivers.length);
    }
}
